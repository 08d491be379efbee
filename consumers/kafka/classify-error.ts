import { SourceFault, type SourceFaultCode } from "../../src/ports/record-source.ts";

const TEXT_MAX = 300;
const CAUSES_MAX = 8;

/** By the protocol's error name (kafkajs calls it `type`). */
const BY_TYPE: ReadonlyMap<string, SourceFaultCode> = new Map(
  Object.entries({
    UNKNOWN_TOPIC_OR_PARTITION: "topic-missing",
    INVALID_TOPIC_EXCEPTION: "topic-missing",
    LEADER_NOT_AVAILABLE: "leaderless",
    NOT_LEADER_FOR_PARTITION: "leaderless",
    REPLICA_NOT_AVAILABLE: "leaderless",
    TOPIC_AUTHORIZATION_FAILED: "not-authorized",
    GROUP_AUTHORIZATION_FAILED: "not-authorized",
    CLUSTER_AUTHORIZATION_FAILED: "not-authorized",
    SECURITY_DISABLED: "not-authorized",
    UNSUPPORTED_SASL_MECHANISM: "authentication-failed",
    ILLEGAL_SASL_STATE: "authentication-failed",
    SASL_AUTHENTICATION_FAILED: "authentication-failed",
    GROUP_LOAD_IN_PROGRESS: "group-unavailable",
    GROUP_COORDINATOR_NOT_AVAILABLE: "group-unavailable",
    NOT_COORDINATOR_FOR_GROUP: "group-unavailable",
    INCONSISTENT_GROUP_PROTOCOL: "group-unavailable",
    GROUP_MAX_SIZE_REACHED: "group-unavailable",
    ILLEGAL_GENERATION: "fenced",
    UNKNOWN_MEMBER_ID: "fenced",
    REBALANCE_IN_PROGRESS: "fenced",
    FENCED_INSTANCE_ID: "fenced",
    REQUEST_TIMED_OUT: "timeout",
    BROKER_NOT_AVAILABLE: "broker-unreachable",
    NETWORK_EXCEPTION: "broker-unreachable",
    NOT_CONTROLLER: "broker-unreachable",
    NOT_ENOUGH_REPLICAS: "leaderless",
    NOT_ENOUGH_REPLICAS_AFTER_APPEND: "leaderless",
  }),
);

/** By kafkajs' own error names, for what did not come from the broker. */
const BY_NAME: ReadonlyMap<string, SourceFaultCode> = new Map(
  Object.entries({
    KafkaJSSASLAuthenticationError: "authentication-failed",
    KafkaJSGroupCoordinatorNotFound: "group-unavailable",
    KafkaJSRequestTimeoutError: "timeout",
    KafkaJSTimeout: "timeout",
    KafkaJSLockTimeout: "timeout",
    KafkaJSConnectionError: "broker-unreachable",
    KafkaJSConnectionClosedError: "broker-unreachable",
    KafkaJSBrokerNotFound: "broker-unreachable",
    KafkaJSNoBrokerAvailableError: "broker-unreachable",
  }),
);

/**
 * By the code of Node's or OpenSSL's error (Node's documentation, "X509 certificate error codes"): the broker was
 * reached, but its certificate is not one that we trust, or TLS is spoken on one side alone.
 */
const NOT_TRUSTED =
  /CERT|^ERR_(?:TLS|SSL)_|^UNABLE_TO_|^(?:HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH_EXCEEDED|INVALID_PURPOSE)$/;

/** What an error of kafkajs or of the network means, with a short text for people. */
export interface ClassifiedError {
  readonly code: SourceFaultCode;
  readonly text: string;
  /** The protocol's error name, where the broker gave one. */
  readonly type: string | undefined;
}

/**
 * Classifies anything that was thrown. kafkajs wraps errors and loses their type on the way, so the chain of causes is
 * walked; the innermost name that is known decides.
 * @param topic the source's: a text that it is missing names it
 */
export function classifyError(error: unknown, topic?: string): ClassifiedError {
  if (error instanceof SourceFault) return { code: error.code, text: error.message, type: undefined };
  let found: SourceFaultCode | undefined;
  let type: string | undefined;
  for (const cause of causesOf(error)) {
    const causeType = textOf(cause, "type");
    if (causeType !== undefined) type = causeType;
    found = codeOf(cause, causeType) ?? found;
  }
  const code = found ?? "unknown";
  const named = code === "topic-missing" && topic !== undefined;
  return { code, text: named ? topicMissing(topic) : textFor(code, error), type };
}

/** kafkajs wraps what it gave up on in an error whose name says nothing to an operator. */
function textFor(code: SourceFaultCode, error: unknown): string {
  if (!(error instanceof Error) || error.name !== "KafkaJSNumberOfRetriesExceeded") return describe(error);
  const text = shortened(error.message);
  if (code === "broker-unreachable") return `no broker of broker.brokers answered (${text})`;
  return `tried several times: ${text}`;
}

function codeOf(cause: object, type: string | undefined): SourceFaultCode | undefined {
  const byType = BY_TYPE.get(type ?? "");
  if (byType === undefined && NOT_TRUSTED.test(textOf(cause, "code") ?? "")) return "authentication-failed";
  return byType ?? BY_NAME.get(textOf(cause, "name") ?? "");
}

/** The error as the port's own; `topic` as for {@link classifyError}. */
export function toSourceFault(error: unknown, topic?: string): SourceFault {
  if (error instanceof SourceFault) return error;
  const { code, text } = classifyError(error, topic);
  return new SourceFault(code, text, { cause: error });
}

/** What an operator reads of a source whose topic the broker does not have. */
export function topicMissing(topic: string): string {
  return `the broker has no topic ${topic}: create it, or correct the source's topic`;
}

function causesOf(error: unknown): object[] {
  const causes: object[] = [];
  let cause = error;
  while (typeof cause === "object" && cause !== null && causes.length < CAUSES_MAX && !causes.includes(cause)) {
    causes.push(cause);
    cause = Reflect.get(cause, "cause");
  }
  return causes;
}

function textOf(cause: object, field: string): string | undefined {
  const value: unknown = Reflect.get(cause, field);
  return typeof value === "string" ? value : undefined;
}

function describe(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : `a ${typeof error} was thrown`;
  return shortened(text);
}

function shortened(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
}
