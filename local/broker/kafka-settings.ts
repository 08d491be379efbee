import { randomBytes } from "node:crypto";

import { LocalBrokerError } from "./local-broker.ts";

/** Where a broker of ours is and what it is called. */
export interface KafkaIdentity {
  /** 22 characters of base64url, random per data folder. */
  readonly clusterId: string;
  readonly port: number;
  readonly controllerPort: number;
}

/** A cluster id as Kafka writes one: 16 random bytes as base64url, not beginning with a dash (it is an argument). */
export function randomClusterId(): string {
  for (;;) {
    const id = randomBytes(16).toString("base64url");
    if (!id.startsWith("-")) return id;
  }
}

/** Set by us alone: another value would move the broker away from where it is looked for. */
const OURS: ReadonlySet<string> = new Set([
  "process.roles",
  "node.id",
  "listeners",
  "advertised.listeners",
  "listener.security.protocol.map",
  "controller.listener.names",
  "inter.broker.listener.name",
  "controller.quorum.bootstrap.servers",
  "log.dirs",
]);

/** One node that starts and restarts fast: a killed broker may register again after 3 s instead of 9 s. */
const DEFAULTS: Readonly<Record<string, string>> = {
  "offsets.topic.replication.factor": "1",
  "offsets.topic.num.partitions": "4",
  "transaction.state.log.replication.factor": "1",
  "transaction.state.log.min.isr": "1",
  "transaction.state.log.num.partitions": "4",
  "share.coordinator.state.topic.replication.factor": "1",
  "share.coordinator.state.topic.min.isr": "1",
  "default.replication.factor": "1",
  "num.partitions": "1",
  "auto.create.topics.enable": "false",
  "group.initial.rebalance.delay.ms": "0",
  "group.min.session.timeout.ms": "1000",
  "num.network.threads": "2",
  "num.io.threads": "4",
  "log.cleaner.threads": "1",
  "background.threads": "2",
  "log.retention.check.interval.ms": "1000",
  "log.cleaner.backoff.ms": "500",
  "log.initial.task.delay.ms": "500",
  "log.cleaner.dedupe.buffer.size": "8388608",
  "log.segment.delete.delay.ms": "500",
  "broker.session.timeout.ms": "3000",
  "broker.heartbeat.interval.ms": "500",
};

/**
 * The text of server.properties for a single node, broker and controller in one, on loopback.
 *
 * @param logDirectory where Kafka keeps its data.
 * @param settings further lines; they win over the defaults.
 * @throws LocalBrokerError when a setting is one that this file decides, or is not one line.
 */
export function serverProperties(
  identity: KafkaIdentity,
  logDirectory: string,
  settings: Readonly<Record<string, string>>,
): string {
  for (const [name, value] of Object.entries(settings)) {
    if (OURS.has(name)) throw new LocalBrokerError(`${name} is set by the local broker itself`);
    if (/[\r\n]/.test(name + value)) throw new LocalBrokerError(`the setting ${JSON.stringify(name)} is not one line`);
  }
  const own = {
    "process.roles": "broker,controller",
    "node.id": "1",
    listeners: `PLAINTEXT://127.0.0.1:${identity.port},CONTROLLER://127.0.0.1:${identity.controllerPort}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${identity.port}`,
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "controller.quorum.bootstrap.servers": `127.0.0.1:${identity.controllerPort}`,
    "log.dirs": logDirectory,
  };
  const lines = Object.entries({ ...own, ...DEFAULTS, ...settings }).map(([name, value]) => `${name}=${value}`);
  return `${lines.join("\n")}\n`;
}

/** Log configuration: warnings to stdout, which is the broker's log file. INFO writes thousands of lines a start. */
export const LOG4J2_YAML = `Configuration:
  status: warn
  Appenders:
    Console:
      name: Stdout
      PatternLayout:
        pattern: "%d %p %m (%c)%n"
  Loggers:
    Root:
      level: warn
      AppenderRef:
        - ref: Stdout
`;
