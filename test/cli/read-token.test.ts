import { PassThrough } from "node:stream";
import { beforeEach, expect, test } from "vitest";
import { readToken } from "../../src/cli/read-token.ts";

let said: string;
const say = (text: string) => void (said += text);
beforeEach(() => {
  said = "";
});

/** A terminal: what is typed arrives, and nothing is echoed by it once it is in raw mode. */
function terminal() {
  const raw: boolean[] = [];
  const stream = new PassThrough();
  return { raw, stream: Object.assign(stream, { isTTY: true, setRawMode: (on: boolean) => (raw.push(on), stream) }) };
}

test("on a terminal it asks, takes one line, and shows nothing of it", async () => {
  const { stream, raw } = terminal();
  const token = readToken(stream, say);
  expect(said).toBe("Token (not shown): ");
  stream.write("0123456789abcdef\r");
  expect(await token).toBe("0123456789abcdef");
  expect(said).toBe("Token (not shown): \n");
  expect(raw).toEqual([true, false]);
});

test.each([
  ["Ctrl-C", "\u0003"],
  ["Ctrl-D", "\u0004"],
])("%s ends it", async (_what, key) => {
  const { stream, raw } = terminal();
  const token = readToken(stream, say);
  stream.write(key);
  await expect(token).rejects.toMatchObject({ code: "CONFIG_INVALID", message: "no token was given" });
  expect(raw).toEqual([true, false]);
});

test("from a pipe it takes everything without asking, within bounds", async () => {
  const pipe = new PassThrough();
  pipe.end("0123456789\nabcdef\n");
  expect(await readToken(pipe, say)).toBe("0123456789\nabcdef\n");
  expect(said).toBe("");
  const large = new PassThrough();
  large.end(Buffer.alloc(64 * 1024 + 1));
  await expect(readToken(large, say)).rejects.toThrow(/64 KiB/);
});
