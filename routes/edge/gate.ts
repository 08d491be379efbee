import type { FastifyRequest } from "fastify";
import { type Access, type Role, hostOfAuthority, isLoopbackName, roleCovers } from "../../src/access/index.ts";
import { StreamsError } from "../../src/errors.ts";
import { type Address, isCleanTarget, readAddress } from "./address.ts";
import type { KnownPaths } from "./known-paths.ts";
import { readQuery } from "./query-string.ts";
import { malformed } from "./refusals.ts";

/** Headers that decide something: two of them would let two readers of one request see two requests. */
const SINGLE_HEADERS = new Set([
  "host",
  "authorization",
  "content-type",
  "content-length",
  "idempotency-key",
  "content-encoding",
  "if-match",
  "origin",
]);

const SAFE_METHODS = new Set(["GET", "HEAD"]);
/** Bytes, for operations that take them. */
export const BINARY_TYPES: readonly string[] = ["application/octet-stream", "application/x-protobuf"];
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*(?:utf-8|"utf-8")[ \t]*)?$/i;

/**
 * Everything that is checked before a body is read, in this order: the request itself, who may reach the service, whether
 * the resource exists, who calls, the query, the body's headers. Runs for unknown routes as well.
 * @throws StreamsError at the first check that fails
 */
export function passGate(request: FastifyRequest, access: Access, paths: KnownPaths): void {
  const target = request.raw.url ?? "";
  if (!isCleanTarget(target))
    throw malformed("address", "", "it has characters that must be percent-encoded, or a fragment");
  refuseRepeatedHeaders(request);
  const address = readAddress(target);
  const host = readHost(request, address);
  if (!access.hasTokens) refuseStrangers(request, host);
  if (request.is404) throw noSuchRoute(request.method, address.path, paths);
  authorize(request, access);
  const query = readQuery(address.query);
  if (!query.ok) throw malformed("query", query.pointer, query.text);
  checkBodyHeaders(request);
}

function refuseRepeatedHeaders(request: FastifyRequest): void {
  const seen = new Set<string>();
  const { rawHeaders } = request.raw;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? "";
    if (!SINGLE_HEADERS.has(name)) continue;
    if (seen.has(name)) throw malformed("header", `/${name}`, "the header is given twice");
    seen.add(name);
  }
}

/** The authority that the request names. HTTP/1.1 demands a Host header; probes over HTTP/1.0 may come without. */
function readHost(request: FastifyRequest, address: Address): string | undefined {
  const header = request.headers.host;
  if (header === undefined && request.raw.httpVersion !== "1.0")
    throw malformed("header", "/host", "the header is missing");
  return address.authority ?? header;
}

/**
 * Without tokens the service trusts whoever reaches loopback, so it must not be reached through a browser: a page whose
 * name was rebound to 127.0.0.1 sends that name as Host, and a page of another origin sends its own as Origin.
 */
function refuseStrangers(request: FastifyRequest, authority: string | undefined): void {
  const host = authority === undefined ? undefined : hostOfAuthority(authority);
  if (authority !== undefined && (host === undefined || !isLoopbackName(host))) {
    throw new StreamsError(
      "HOST_REFUSED",
      "the request names a host other than localhost, 127.0.0.1 or [::1], and no tokens are configured",
    );
  }
  const { origin } = request.headers;
  if (origin === undefined || SAFE_METHODS.has(request.method)) return;
  if (authority === undefined || !isOriginOf(origin, authority)) {
    throw new StreamsError(
      "ORIGIN_REFUSED",
      "the request comes from a page of another origin, and no tokens are configured",
    );
  }
}

function isOriginOf(origin: string, authority: string): boolean {
  const match = /^https?:\/\/([^/]+)$/i.exec(origin);
  return match?.[1]?.toLowerCase() === authority.toLowerCase();
}

function noSuchRoute(method: string, path: string, paths: KnownPaths): StreamsError {
  const allow = paths.methodsOf(path);
  if (allow.length === 0) return new StreamsError("ROUTE_UNKNOWN", "no resource has this path");
  return new StreamsError("METHOD_NOT_ALLOWED", `${method} is not a method of this resource`, { allow });
}

function authorize(request: FastifyRequest, access: Access): void {
  const needed = request.routeOptions.config.access;
  if (needed === "public" || !access.hasTokens) return;
  const caller = access.authenticate(request.headers.authorization);
  if (caller === undefined || needed === undefined) throw new Error("an operation without a role was reached");
  request.caller = caller.name;
  request.callerRole = caller.role;
  if (!roleCovers(caller.role, needed)) throw insufficient(needed, caller.role);
}

function insufficient(needed: Role, held: Role): StreamsError {
  return new StreamsError("ROLE_INSUFFICIENT", `the operation needs the role ${needed}; the token has ${held}`);
}

function checkBodyHeaders(request: FastifyRequest): void {
  const { headers } = request;
  const length = headers["content-length"];
  const carriesBody = headers["transfer-encoding"] !== undefined || (length !== undefined && Number(length) > 0);
  const takesBody = request.routeOptions.schema?.body !== undefined;
  if (!takesBody) {
    if (carriesBody) throw malformed("body", "", "the operation takes no body");
    return;
  }
  if (!carriesBody) throw new StreamsError("BODY_NOT_JSON", "the operation needs a body and the request has none");
  if (headers["content-encoding"] !== undefined) throw unsupported("a content encoding is not read");
  const type = headers["content-type"];
  if (type === undefined) throw unsupported("the request has no content type");
  if (JSON_TYPE.test(type.trim())) return;
  const binary = request.routeOptions.config.binaryBody === true;
  if (binary && BINARY_TYPES.includes(type.trim().toLowerCase())) return;
  const also = binary ? `, ${BINARY_TYPES.join(", ")}` : "";
  throw unsupported(`only application/json, in UTF-8,${also === "" ? "" : ` and${also.slice(1)}`} is read`);
}

function unsupported(text: string): StreamsError {
  return new StreamsError("MEDIA_TYPE_UNSUPPORTED", text);
}
