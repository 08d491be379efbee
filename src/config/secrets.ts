import type { ConfigReader } from "./reader.ts";

/** Largest file that holds a secret, in bytes. */
const SECRET_BYTES_MAX = 64 * 1024;

/** Reads files that the configuration names. Throws what the file system throws; may stop reading at `maxBytes`. */
export type ReadFile = (path: string, maxBytes: number) => Uint8Array;

/**
 * Reads the secret in `file`, without one trailing line break. Notes a fault at `path` and returns undefined when it
 * cannot be read, is empty, too large or not UTF-8. The value is never part of a fault.
 */
export function readSecret(reader: ConfigReader, readFile: ReadFile, path: string, file: string): string | undefined {
  const bytes = readNamed(reader, readFile, path, file, SECRET_BYTES_MAX);
  if (bytes === undefined) return undefined;
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    reader.fault(path, "the file is not UTF-8", "write the secret as UTF-8 text");
    return undefined;
  }
  const secret = text.replace(/\r?\n$/, "");
  if (secret === "" || /[\r\n]/.test(secret)) {
    reader.fault(
      path,
      secret === "" ? "the file is empty" : "the file has several lines",
      "write the secret alone into it",
    );
    return undefined;
  }
  return secret;
}

/** Checks that `file` can be read and holds a PEM block, so that a start does not fail later than `check`. */
export function checkPem(reader: ConfigReader, readFile: ReadFile, path: string, file: string): void {
  const bytes = readNamed(reader, readFile, path, file, 1024 * 1024);
  if (bytes !== undefined && !new TextDecoder().decode(bytes).includes("-----BEGIN ")) {
    reader.fault(path, "the file has no PEM block", "name a PEM file ('-----BEGIN …')");
  }
}

/** Reads a file that the configuration names. Notes a fault at `path` and returns undefined when that fails. */
export function readNamed(
  reader: ConfigReader,
  readFile: ReadFile,
  path: string,
  file: string,
  maxBytes: number,
): Uint8Array | undefined {
  let bytes: Uint8Array;
  try {
    bytes = readFile(file, maxBytes);
  } catch (cause) {
    reader.fault(path, `${file} cannot be read (${codeOf(cause)})`, "name a file that this process may read");
    return undefined;
  }
  if (bytes.length <= maxBytes) return bytes;
  reader.fault(path, `${file} has more than ${maxBytes} bytes`, "name the right file");
  return undefined;
}

/** Error code of the file system (`ENOENT`), or the error's name. */
export function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return "unknown";
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.name;
}
