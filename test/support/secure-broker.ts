import { openFolder } from "../../local/broker/kafka-folder.ts";
import { freePorts } from "../../local/broker/ports.ts";
import { issue, makeAuthority } from "./certificates.ts";
import { startCustomBroker, type RunningBroker } from "./custom-broker.ts";

/** The one user of a secure broker; every mechanism knows it. */
export const USER = "streams";
export const PASSWORD = "right horse";

/**
 * A broker with one listener per way of being secure. Authorisation is on; what nobody denies is allowed, and whoever
 * comes in by `admin` may do anything.
 */
export interface SecureBroker extends RunningBroker {
  readonly tls: string;
  readonly saslTls: string;
  readonly sasl: string;
  /** TLS under a certificate that names another host. */
  readonly wrongName: string;
  /** Certificate of the authority that signed both certificates. */
  readonly caFile: string;
}

/**
 * Starts an Apache Kafka with TLS, SASL (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512) and ACLs. Needs Java and openssl.
 *
 * @param settings further lines of server.properties.
 */
export async function startSecureBroker(settings: Readonly<Record<string, string>> = {}): Promise<SecureBroker> {
  const folder = await openFolder(undefined);
  const authority = await makeAuthority(folder.path, "right");
  const rightStore = await issue(authority, folder.path, "right", ["IP:127.0.0.1", "DNS:localhost"]);
  const otherStore = await issue(authority, folder.path, "other", ["DNS:other.example"]);
  const [tls = 0, saslTls = 0, sasl = 0, wrongName = 0] = await freePorts(4);
  const scram = ["256", "512"].flatMap((bits) => [
    "--add-scram",
    `SCRAM-SHA-${bits}=[name=${USER},password=${PASSWORD}]`,
  ]);
  const broker = await startCustomBroker({
    folder,
    listeners: [
      { name: "TLS", protocol: "SSL", port: tls },
      { name: "BOTH", protocol: "SASL_SSL", port: saslTls },
      { name: "SASL", protocol: "SASL_PLAINTEXT", port: sasl },
      { name: "OTHER", protocol: "SSL", port: wrongName },
    ],
    settings: {
      "ssl.keystore.type": "PEM",
      "ssl.keystore.location": rightStore,
      "listener.name.other.ssl.keystore.type": "PEM",
      "listener.name.other.ssl.keystore.location": otherStore,
      "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
      "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
      "allow.everyone.if.no.acl.found": "true",
      "super.users": "User:ANONYMOUS",
      ...loginsOf("both"),
      ...loginsOf("sasl"),
      ...settings,
    },
    formatArguments: scram,
  });
  const at = (port: number): string => `127.0.0.1:${port}`;
  const addresses = { tls: at(tls), saslTls: at(saslTls), sasl: at(sasl), wrongName: at(wrongName) };
  return { ...broker, ...addresses, caFile: authority.caFile };
}

/** Who may log in at a listener, by mechanism; the SCRAM users are in the formatted data. */
function loginsOf(listener: string): Record<string, string> {
  const login = (module: string, options: string): string =>
    `org.apache.kafka.common.security.${module} required ${options};`;
  const name = `listener.name.${listener}`;
  return {
    [`${name}.plain.sasl.jaas.config`]: login("plain.PlainLoginModule", `user_${USER}="${PASSWORD}"`),
    [`${name}.scram-sha-256.sasl.jaas.config`]: login("scram.ScramLoginModule", ""),
    [`${name}.scram-sha-512.sasl.jaas.config`]: login("scram.ScramLoginModule", ""),
  };
}
