import { expect, it } from "vitest";
import { InvariantViolation } from "../../../src/core/invariant.ts";
import { AnswerWriter, requireAnswers, sameAnswers, storedValues } from "../../../src/kv/embedded/answers.ts";

function pack(values: readonly (string | undefined)[]): Buffer {
  const writer = new AnswerWriter();
  for (const value of values) writer.add(value === undefined ? undefined : Buffer.from(value), value?.length ?? 0);
  return Buffer.from(writer.finish());
}

const VALUES = ["a", undefined, "", "long".repeat(50), undefined];

it("come out as they went in, in as many parts as there were", () => {
  const parts = [VALUES, ["b"]].map((values) => ({ count: values.length, packed: pack(values) }));
  for (const part of parts) requireAnswers(part);
  expect(storedValues(parts).map((value) => value?.toString())).toEqual([...VALUES, "b"]);
});

it("are refused when there are more or fewer than said, or one is cut", () => {
  const packed = pack(VALUES);
  for (const count of [0, 4, 6]) expect(() => requireAnswers({ count, packed })).toThrow(InvariantViolation);
  for (const length of [0, 3, packed.length - 1]) {
    const cut = { count: VALUES.length, packed: packed.subarray(0, length) };
    expect(() => requireAnswers(cut)).toThrow(InvariantViolation);
  }
});

it("are the same only byte for byte, and in the same parts", () => {
  const part = (...values: readonly (string | undefined)[]) => ({ count: values.length, packed: pack(values) });
  expect(sameAnswers([part("a", undefined)], [part("a", undefined)])).toBe(true);
  expect(sameAnswers([part("a", undefined)], [part("a", "")])).toBe(false);
  expect(sameAnswers([part("a"), part("b")], [part("a", "b")])).toBe(false);
  expect(sameAnswers([part("a"), part("b")], [part("a"), part("c")])).toBe(false);
  expect(sameAnswers([part("a")], [part("a"), part("b")])).toBe(false);
});
