import { expect, test } from "vitest";
import { createLogger } from "../src/logger.ts";

function capture(options: { level?: "debug" | "info" | "silent"; pretty?: boolean } = {}) {
  const lines: string[] = [];
  const log = createLogger({ level: "info", ...options, destination: { write: (line) => void lines.push(line) } });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? "null") as Record<string, unknown> };
}

test("a line has level, time, text and fields, and those of its parents", () => {
  const { log, last } = capture();
  log.child({ source: "articles" }).child({ partition: 3 }).warn({ attempts: 2 }, "the partition holds");
  expect(last()).toEqual({
    level: "warn",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown,
    source: "articles",
    partition: 3,
    attempts: 2,
    msg: "the partition holds",
  });
});

test("credentials and what a record carries are hidden at every depth, in children and in causes", () => {
  const { log, lines } = capture();
  const secret = "hunter2";
  const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED", config: { password: secret } });
  log.child({ broker: { sasl: { username: secret } }, Authorization: secret }).error(
    {
      headers: { authorization: secret, "set-cookie": [secret] },
      list: [{ token: secret, tokens: [secret], private_key: secret }],
      record: { key: secret, value: secret, payload: Buffer.from(secret) },
      error: new Error("failed", { cause }),
      bytes: Buffer.from(secret),
      map: new Map([["apiKey", secret]]),
    },
    "no secret",
  );
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain(secret);
  expect(lines[0]).not.toContain(Buffer.from(secret).toString("base64"));
  expect(lines[0]).toContain("ECONNREFUSED");
  expect(lines[0]).toContain("[7 bytes]");
});

test("lines are bounded whatever they are given", () => {
  const { log, lines } = capture();
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  const chain = Array.from({ length: 100 }).reduce<Error>(
    (cause) => new Error("x".repeat(10_000), { cause }),
    new Error("end"),
  );
  log.error({ error: chain }, "y".repeat(100_000));
  log.error(
    { cyclic, items: Array.from({ length: 10_000 }, () => "z".repeat(100)), big: 2n ** 70n, none: undefined },
    "text",
  );
  const wide = (depth: number): unknown => (depth === 0 ? "w" : Array.from({ length: 20 }, () => wide(depth - 1)));
  log.error({ wide: wide(4) }, "text");
  expect(lines).toHaveLength(3);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(60_000);
  expect(lines[1]).toContain('"big":"1180591620717411303424"');
});

test("a field cannot pass itself off as the line's own level, time or text", () => {
  const { log, lines, last } = capture();
  log.info({ level: "error", time: 1, msg: "other" }, "text");
  expect(last()).toMatchObject({ level: "info", level_: "error", time_: 1, msg: "text", msg_: "other" });
  expect(lines[0]?.match(/"level":/g)).toHaveLength(1);
});

test("an error in place of fields keeps its code and text", () => {
  const { log, last } = capture();
  log.error(Object.assign(new Error("no such file"), { code: "ENOENT" }), "reading failed");
  expect(last()).toMatchObject({
    error: { name: "Error", code: "ENOENT", text: "no such file" },
    msg: "reading failed",
  });
});

test("nothing below the level is written", () => {
  const { log, lines } = capture({ level: "info" });
  log.debug({}, "details");
  const silent = capture({ level: "silent" });
  silent.log.error({}, "unheard");
  expect([...lines, ...silent.lines]).toEqual([]);
});

test("pretty lines are for people and stay on one line", () => {
  const { log, lines } = capture({ pretty: true });
  log.info({ source: "articles", reason: "two\nlines" }, "started");
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}started source=articles reason="two\\nlines"\n$/);
});

test.each([false, true])("no text writes a line of its own, or another than it is (pretty: %s)", (pretty) => {
  const { log, lines } = capture({ pretty });
  const hostile = "a\r\nb\u001b[2Jc\u009b2Jd\u2028e\u202ef\u0007\u0000\u007f";
  log.child({ actor: hostile }).error({ reason: hostile, list: [hostile], error: new Error(hostile) }, hostile);
  expect(lines).toHaveLength(1);
  expect(lines[0]?.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
  expect(lines[0]).toContain("\\u009b2J");
});
