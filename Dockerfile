# Never built where it was written (no Docker engine there); test/deploy checks its structure.
FROM node:24.22.3-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM node:24.22.3-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY routes routes
COPY consumers consumers
RUN npm run build

FROM node:24.22.3-bookworm-slim AS runtime
ENV NODE_ENV=production \
    STREAMS_CONFIG=/etc/ysearch-streams/streams.yaml
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
# One volume per owner of the KV plane: three disks in earnest. Everything else may be read-only.
RUN mkdir -p /data/a /data/b /data/c && chown -R 1000:1000 /data
VOLUME ["/data/a", "/data/b", "/data/c"]
USER 1000:1000
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "dist/src/cli/healthcheck.js"]
ENTRYPOINT ["node", "--enable-source-maps", "dist/src/main.js"]
CMD ["serve"]
