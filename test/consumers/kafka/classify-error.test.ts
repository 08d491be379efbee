import { describe, expect, it } from "vitest";

import { classifyError, toSourceFault } from "../../../consumers/kafka/classify-error.ts";
import { SourceFault } from "../../../src/ports/record-source.ts";

describe("classifying errors", () => {
  it("walks the causes to the innermost that is known", () => {
    const inner = Object.assign(new Error("this server does not host this topic-partition"), {
      name: "KafkaJSProtocolError",
      type: "UNKNOWN_TOPIC_OR_PARTITION",
    });
    const middle = Object.assign(new Error("wrapped", { cause: inner }), { name: "KafkaJSNonRetriableError" });
    const outer = Object.assign(new Error("again", { cause: middle }), { name: "KafkaJSConnectionError" });
    expect(classifyError(outer)).toMatchObject({ code: "topic-missing", type: "UNKNOWN_TOPIC_OR_PARTITION" });
    expect(toSourceFault(outer)).toMatchObject({ name: "SourceFault", code: "topic-missing", cause: outer });
  });

  it("tells a certificate that is not trusted from a broker that cannot be reached", () => {
    const codes = [
      "SELF_SIGNED_CERT_IN_CHAIN",
      "CERT_HAS_EXPIRED",
      "ERR_TLS_CERT_ALTNAME_INVALID",
      "ERR_SSL_WRONG_VERSION_NUMBER",
    ];
    for (const code of [...codes, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"]) {
      const inner = Object.assign(new Error("tls"), { name: "KafkaJSConnectionError", code });
      const outer = Object.assign(new Error("again", { cause: inner }), { name: "KafkaJSNumberOfRetriesExceeded" });
      expect(classifyError(outer).code).toBe("authentication-failed");
    }
    const refused = Object.assign(new Error("refused"), { name: "KafkaJSConnectionError", code: "ECONNREFUSED" });
    expect(classifyError(refused).code).toBe("broker-unreachable");
  });

  it("says what an operator can look at when every attempt failed, not what kafkajs calls it", () => {
    const wrapped = (name: string, message: string) => {
      const cause = Object.assign(new Error(message), { name });
      return Object.assign(new Error(message, { cause }), { name: "KafkaJSNumberOfRetriesExceeded" });
    };
    expect(classifyError(wrapped("KafkaJSConnectionError", "connect ECONNREFUSED 127.0.0.1:9092"))).toMatchObject({
      code: "broker-unreachable",
      text: "no broker of broker.brokers answered (connect ECONNREFUSED 127.0.0.1:9092)",
    });
    expect(classifyError(wrapped("KafkaJSRequestTimeoutError", "Request Metadata timed out"))).toMatchObject({
      code: "timeout",
      text: "tried several times: Request Metadata timed out",
    });
  });

  it("is total", () => {
    const loop: { name: string; cause?: unknown } = { name: "KafkaJSTimeout" };
    loop.cause = loop;
    expect(classifyError(loop).code).toBe("timeout");
    for (const thrown of [undefined, null, 0, "text", Symbol("s"), {}, [], () => undefined, { type: 5, name: null }]) {
      expect(classifyError(thrown).code).toBe("unknown");
    }
    expect(classifyError({ type: "constructor", name: "toString" }).code).toBe("unknown");
  });

  it("keeps a fault of ours and caps a text", () => {
    const fault = new SourceFault("leaderless", "no leader");
    expect(toSourceFault(fault)).toBe(fault);
    expect(classifyError(new Error("x".repeat(5_000))).text.length).toBeLessThan(310);
  });
});
