import { createInterface } from "node:readline";
import { StreamsError } from "../errors.ts";

const INPUT_BYTES_MAX = 64 * 1024;

/**
 * Reads a token: on a terminal one line that is asked for and not shown, otherwise everything to the end.
 * @throws StreamsError CONFIG_INVALID for more than 64 KiB, or when Ctrl-C or Ctrl-D came instead of a line
 */
export function readToken(
  input: NodeJS.ReadableStream & { readonly isTTY?: boolean },
  say: (text: string) => void,
): Promise<string> {
  return input.isTTY === true ? readLine(input, say) : readAll(input);
}

/** readline takes the terminal out of echo mode, and without an output of its own shows nothing. */
function readLine(input: NodeJS.ReadableStream, say: (text: string) => void): Promise<string> {
  say("Token (not shown): ");
  const lines = createInterface({ input, terminal: true });
  return new Promise((resolve, reject) => {
    lines.once("line", (line) => {
      resolve(line);
      lines.close();
    });
    lines.once("SIGINT", () => lines.close());
    lines.once("close", () => {
      say("\n");
      reject(new StreamsError("CONFIG_INVALID", "no token was given"));
    });
  });
}

async function readAll(input: NodeJS.ReadableStream): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of input) {
    const bytes: Uint8Array = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    length += bytes.length;
    if (length > INPUT_BYTES_MAX) throw new StreamsError("CONFIG_INVALID", "standard input has more than 64 KiB");
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}
