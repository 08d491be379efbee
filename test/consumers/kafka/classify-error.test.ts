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
    const text = "the broker has no topic articles: create it, or correct the source's topic";
    expect(classifyError(outer, "articles").text).toBe(text);
    expect(toSourceFault(outer, "articles").message).toBe(text);
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
