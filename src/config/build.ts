import { isAbsolute, relative, resolve } from "node:path";
import { toLimits, type LimitName } from "./limits.ts";
import type { ConfigReader } from "./reader.ts";
import { limitFaults } from "./relations.ts";
import type { FileValues } from "./schema.ts";
import type { SourceValues } from "./schema-source.ts";
import { checkPem, readNamed, readSecret, type ReadFile } from "./secrets.ts";
import { readSources } from "./sources.ts";
import type { BrokerConfig, EmbeddedKvConfig, HttpConfig, SaslConfig, StreamsConfig } from "./types.ts";

interface BuildInputs {
  readonly cwd: string;
  readonly readFile: ReadFile;
}

const TOKENS_BYTES_MAX = 1024 * 1024;

/**
 * Turns the file's values into the configuration: paths become absolute, secrets are read, and what does not go
 * together is noted as a fault. The configuration is only good when the reader has no faults afterwards.
 */
export function buildConfig(
  reader: ConfigReader,
  values: FileValues,
  sources: readonly (SourceValues | undefined)[],
  inputs: BuildInputs,
): { readonly config: StreamsConfig; readonly warnings: readonly string[] } {
  const isFaulty = (name: LimitName) => reader.isFaulty(`limits.${name}`);
  for (const fault of limitFaults(values.limits, sources.length, isFaulty))
    reader.fault(fault.path, fault.found, fault.right);
  const config = {
    http: buildHttp(reader, values.http, inputs),
    broker: buildBroker(reader, values.broker, inputs),
    kv: buildKv(reader, values.kv, inputs),
    limits: toLimits(values.limits),
    log: values.log,
    sources: readSources(reader, sources),
  };
  return { config, warnings: warningsOf(config) };
}

function buildHttp(reader: ConfigReader, http: FileValues["http"], { cwd, readFile }: BuildInputs): HttpConfig {
  const { host, port } = http;
  const tokensFile = http.tokensFile === undefined ? undefined : resolve(cwd, http.tokensFile);
  if (tokensFile !== undefined) readNamed(reader, readFile, "http.tokensFile", tokensFile, TOKENS_BYTES_MAX);
  if (tokensFile === undefined && !isLoopback(host) && !reader.isFaulty("http.tokensFile")) {
    reader.fault(
      "http.host",
      `${host} is not loopback and http.tokensFile is missing`,
      "name a tokens file, or listen on 127.0.0.1",
    );
  }
  const tls = pemFiles(reader, "http.tls", http.tls ?? {}, { cwd, readFile });
  return {
    host,
    port,
    ...(tokensFile === undefined ? {} : { tokensFile }),
    ...(tls.certFile !== undefined && tls.keyFile !== undefined
      ? { tls: { certFile: tls.certFile, keyFile: tls.keyFile } }
      : {}),
  };
}

/** Whether only this machine can reach an address. A name other than localhost may lead anywhere. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

interface PemPaths {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

function pemFiles(reader: ConfigReader, path: string, named: PemPaths, { cwd, readFile }: BuildInputs): PemPaths {
  const result: { caFile?: string; certFile?: string; keyFile?: string } = {};
  for (const key of ["caFile", "certFile", "keyFile"] as const) {
    const file = named[key];
    if (file === undefined) continue;
    result[key] = resolve(cwd, file);
    checkPem(reader, readFile, `${path}.${key}`, result[key]);
  }
  return result;
}

function buildBroker(reader: ConfigReader, broker: FileValues["broker"], inputs: BuildInputs): BrokerConfig {
  const { brokers, clientId, ssl } = broker;
  if ((ssl?.certFile === undefined) !== (ssl?.keyFile === undefined)) {
    reader.fault("broker.ssl", "only one of certFile and keyFile", "write both or neither");
  }
  const sasl = buildSasl(reader, broker.sasl, inputs);
  return {
    brokers,
    clientId,
    ...(ssl?.enabled === true ? { ssl: pemFiles(reader, "broker.ssl", ssl, inputs) } : {}),
    ...(sasl === undefined ? {} : { sasl }),
  };
}

function buildSasl(
  reader: ConfigReader,
  sasl: FileValues["broker"]["sasl"],
  { cwd, readFile }: BuildInputs,
): SaslConfig | undefined {
  if (sasl === undefined) return undefined;
  const { mechanism, username, passwordFile } = sasl;
  if (reader.isFaulty("broker.sasl.password") || reader.isFaulty("broker.sasl.passwordFile")) return undefined;
  if ((sasl.password === undefined) === (passwordFile === undefined)) {
    const found = passwordFile === undefined ? "neither password nor passwordFile" : "both password and passwordFile";
    reader.fault("broker.sasl", found, "write exactly one of password and passwordFile");
    return undefined;
  }
  if (passwordFile === undefined) return { mechanism, username, password: sasl.password ?? "" };
  const file = resolve(cwd, passwordFile);
  const password = readSecret(reader, readFile, "broker.sasl.passwordFile", file);
  reader.provenance.set("broker.sasl.password", `file ${file}`);
  return password === undefined ? undefined : { mechanism, username, password };
}

function buildKv(reader: ConfigReader, kv: FileValues["kv"], { cwd }: BuildInputs): EmbeddedKvConfig {
  const writeAcks = kv.writeAcks === 3 ? 3 : 2;
  if (kv.engine === "cassandra") {
    reader.fault("kv.engine", "cassandra is not built yet", "write embedded");
    return { engine: "embedded", directories: ["", "", ""], writeAcks };
  }
  const [a = "", b = "", c = ""] = kv.directories.map((directory) => resolve(cwd, directory));
  const directories = [a, b, c] as const;
  for (const [index, directory] of directories.entries()) {
    const other = directories.findIndex((candidate, at) => at !== index && contains(candidate, directory));
    if (other !== -1 && !(other > index && directories[other] === directory)) {
      reader.fault(
        `kv.directories[${index}]`,
        `${directory} is in or equal to kv.directories[${other}]`,
        "give each owner a directory of its own",
      );
    }
  }
  return { engine: "embedded", directories, writeAcks };
}

function contains(outer: string, inner: string): boolean {
  const way = relative(outer, inner);
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}

function warningsOf(config: StreamsConfig): readonly string[] {
  const { http, broker } = config;
  const warnings: string[] = [];
  if (broker.sasl?.mechanism === "plain" && broker.ssl === undefined) {
    warnings.push("broker.sasl: plain without broker.ssl sends the password in clear text");
  }
  if (http.tls === undefined && !isLoopback(http.host)) {
    warnings.push("http.host: tokens travel in clear text without http.tls, unless a proxy in front terminates TLS");
  }
  return warnings;
}
