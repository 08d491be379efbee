import { Type, type Static } from "@sinclair/typebox";
import { forEachLimit } from "./limits.ts";
import { closed, oneOf, path, secret } from "./schema-parts.ts";
import { SourceSchema } from "./schema-source.ts";

/**
 * The closed schema of `streams.yaml`, over values after reading: sizes in bytes, durations in milliseconds, secrets
 * put in. `unit` says how a leaf is spelled in the file, `right` what to write, `secret` that its value is never shown.
 */

const Tls = closed(
  {
    certFile: path("Certificate chain of the HTTP server, PEM."),
    keyFile: path("Private key of the HTTP server, PEM."),
  },
  "Serves HTTPS instead of HTTP.",
);

const Http = closed(
  {
    host: Type.String({
      default: "127.0.0.1",
      pattern: "^[0-9A-Za-z.:_-]{1,253}$",
      right: "an address or a host name",
      description: "Address to listen on. Anything but loopback needs tokensFile.",
    }),
    port: Type.Integer({
      default: 8080,
      minimum: 0,
      maximum: 65_535,
      description: "Port to listen on; 0 takes a free one.",
    }),
    tokensFile: Type.Optional(
      path("File of hashed bearer tokens, one a line, as `ysearch-streams hash-token` prints them."),
    ),
    tls: Type.Optional(Tls),
  },
  "The control plane.",
);

const BrokerSsl = closed(
  {
    enabled: Type.Boolean({
      default: true,
      description: "Whether to use TLS; false keeps the block without using it.",
    }),
    caFile: Type.Optional(path("Certificates of the authorities to trust, PEM; without it those of the runtime.")),
    certFile: Type.Optional(path("Client certificate, PEM; needs keyFile.")),
    keyFile: Type.Optional(path("Client key, PEM; needs certFile.")),
  },
  "TLS to the broker.",
);

const Sasl = closed(
  {
    mechanism: oneOf(["plain", "scram-sha-256", "scram-sha-512"], { description: "How to authenticate." }),
    username: Type.String({ minLength: 1, maxLength: 1024, description: "User name." }),
    password: Type.Optional(secret("Password; only from the environment.")),
    passwordFile: Type.Optional(path("File whose content is the password, without its last line break.")),
  },
  "Authentication to the broker. Exactly one of password and passwordFile.",
);

/** 1 to 65535. */
const PORT = "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";

const Broker = closed(
  {
    brokers: Type.Array(
      Type.String({
        pattern: `^[A-Za-z0-9]([A-Za-z0-9._-]{0,252}):${PORT}$`,
        right: "host:port with a host name or an IPv4 address, port 1 to 65535",
        description: "host:port",
      }),
      { default: ["localhost:9092"], minItems: 1, maxItems: 100, description: "Brokers to ask first, host:port each." },
    ),
    clientId: Type.String({
      default: "ysearch-streams",
      pattern: "^[A-Za-z0-9._-]{1,100}$",
      right: "letters, digits, '.', '_' and '-', at most 100",
      description: "Name that the broker logs and counts quotas by.",
    }),
    ssl: Type.Optional(BrokerSsl),
    sasl: Type.Optional(Sasl),
  },
  "The Kafka-protocol broker.",
);

const EmbeddedKv = closed(
  {
    engine: Type.Literal("embedded", { default: "embedded", description: "Three LMDB environments in this process." }),
    directories: Type.Array(path("A directory."), {
      default: ["./data/a", "./data/b", "./data/c"],
      minItems: 3,
      maxItems: 3,
      description: "Directories of the three owners: three disks in earnest.",
    }),
    writeAcks: Type.Integer({
      default: 2,
      minimum: 2,
      maximum: 3,
      description: "Durable acks that make a write count; reads that restore ask 4 minus this.",
    }),
  },
  "The embedded KV plane.",
);

const CassandraKv = closed(
  {
    engine: Type.Literal("cassandra", {
      description: "Apache Cassandra. Known to the schema, not built yet: a start refuses it.",
    }),
    contactPoints: Type.Array(Type.String({ minLength: 1, maxLength: 260, description: "host or host:port" }), {
      minItems: 1,
      maxItems: 100,
      description: "Nodes to ask first.",
    }),
    localDataCenter: Type.String({ minLength: 1, maxLength: 128, description: "Data centre to prefer." }),
    keyspace: Type.String({
      default: "ysearch_streams",
      pattern: "^[A-Za-z][A-Za-z0-9_]{0,47}$",
      right: "letters, digits and '_', a letter first, at most 48",
      description: "Keyspace.",
    }),
    username: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description: "User name." })),
    password: Type.Optional(secret("Password; only from the environment.")),
    passwordFile: Type.Optional(path("File whose content is the password, without its last line break.")),
    writeAcks: Type.Integer({
      default: 2,
      minimum: 2,
      maximum: 3,
      description: "Durable acks that make a write count.",
    }),
  },
  "Cassandra as the KV plane.",
);

const Kv = Type.Union([EmbeddedKv, CassandraKv], { discriminator: "engine", description: "Where records land." });

const limitProperties = forEachLimit(({ unit, ...row }) =>
  Type.Integer({
    ...(unit === "bytes" || unit === "ms" ? { unit } : {}),
    default: row.default,
    minimum: row.min,
    maximum: row.max,
    description: row.meaning,
  }),
);

const LimitsSchema = closed(limitProperties, "Limits of this process.");

const Log = closed(
  {
    level: oneOf(["debug", "info", "warn", "error", "silent"], {
      default: "info",
      description: "Least level that is written.",
    }),
    pretty: Type.Boolean({ default: false, description: "Lines for people instead of JSON." }),
  },
  "The log, on standard output.",
);

/** The whole file. */
export const FileSchema = closed(
  {
    http: Http,
    broker: Broker,
    kv: Kv,
    limits: LimitsSchema,
    log: Log,
    sources: Type.Array(SourceSchema, {
      default: [],
      maxItems: 1000,
      description: "Feeds. They seed definitions: in force is what the KV plane holds.",
    }),
  },
  "streams.yaml",
);

/** The file after reading. */
export type FileValues = Static<typeof FileSchema>;
