import { destination as openDestination, pino, stdTimeFunctions, type Logger as Pino } from "pino";
import type { Logger, LogLevel } from "./ports/logger.ts";

/** Where lines go. */
export interface LogDestination {
  write(line: string): void;
}

/** What {@link createLogger} is made from. */
export interface LoggerOptions {
  readonly level: LogLevel;
  /** Lines for people instead of JSON. */
  readonly pretty?: boolean;
  /** Standard output, if absent. */
  readonly destination?: LogDestination;
}

const TEXT_MAX = 1000;
const STACK_MAX = 4000;
const DEPTH_MAX = 6;
const ITEMS_MAX = 50;
/** Values in one line, at all depths. */
const VALUES_MAX = 300;
/**
 * What JSON leaves as it is, and what could make a terminal or an editor show another line than was written: C1 controls, line
 * and paragraph separators, characters that turn the direction of text. C0 is escaped by JSON.
 */
const UNSEEN = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/** Lines for people are not JSON. */
const CONTROLS = /\p{Cc}/gu;
/** Names that a line has of its own. */
const RESERVED = new Set(["level", "time", "msg"]);

/** Field names whose value is never written, in lower case without `-` and `_`: credentials, and what a record carries. */
const HIDDEN = new Set(
  "authorization cookie setcookie token tokens bearer password passwd passphrase secret secrets sasl privatekey apikey key value payload recordkey recordvalue".split(
    " ",
  ),
);

/**
 * A logger over pino. Whatever fields it is given, it writes no credentials, no record keys or values and no bytes, and
 * lines of bounded length: texts are cut, deep or long structures end in a mark.
 */
export function createLogger({ level, pretty = false, destination }: LoggerOptions): Logger {
  // Synchronous: the last lines before a crash are the ones that matter.
  const out = destination ?? openDestination({ fd: 1, sync: true });
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return wrap(pino(options, pretty ? { write: (line: string) => out.write(prettyLine(line)) } : out));
}

function wrap(inner: Pino): Logger {
  const line = (level: "debug" | "info" | "warn" | "error") => (fields: object, text: string) => {
    if (inner.isLevelEnabled(level)) inner[level](cleanFields(fields), cut(text, TEXT_MAX));
  };
  return {
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
    child: (fields) => wrap(inner.child(cleanFields(fields))),
  };
}

function cut(text: string, max: number): string {
  const shown = text.length <= max ? text : `${text.slice(0, max)}… (${text.length} characters)`;
  return shown.replaceAll(UNSEEN, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Fields as they may be written. An error given in place of fields becomes the field `error`. */
function cleanFields(fields: object): Record<string, unknown> {
  const named = fields instanceof Error ? { error: fields } : fields;
  const renamed = Object.entries(named).map(
    ([name, value]) => [RESERVED.has(name) ? `${name}_` : name, value] as const,
  );
  return new Cleaner().object(renamed, 0);
}

/** Cleans the values of one line, and counts them. */
class Cleaner {
  #left = VALUES_MAX;

  object(entries: readonly (readonly [string, unknown])[], depth: number): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    for (const [name, value] of entries.slice(0, ITEMS_MAX)) {
      const hidden = value !== undefined && HIDDEN.has(name.toLowerCase().replaceAll(/[-_]/g, ""));
      result[cut(name, 100)] = hidden ? "[hidden]" : this.#value(value, depth + 1);
    }
    if (entries.length > ITEMS_MAX) result["…"] = `${entries.length - ITEMS_MAX} more`;
    return result;
  }

  #value(value: unknown, depth: number): unknown {
    this.#left -= 1;
    if (this.#left < 0 || depth > DEPTH_MAX) return "[more]";
    if (typeof value === "string") return cut(value, TEXT_MAX);
    if (typeof value === "bigint") return value.toString();
    if (typeof value === "function" || typeof value === "symbol") return `[${typeof value}]`;
    if (typeof value !== "object" || value === null) return value;
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
    if (value instanceof Date) return Number.isFinite(value.getTime()) ? value.toISOString() : "[invalid date]";
    if (value instanceof Error) return this.#error(value, depth);
    if (Array.isArray(value) || value instanceof Set) return this.#list([...value], depth);
    return this.object(Object.entries(value instanceof Map ? Object.fromEntries(value) : value), depth);
  }

  #list(items: readonly unknown[], depth: number): readonly unknown[] {
    const kept = items.slice(0, ITEMS_MAX).map((item) => this.#value(item, depth + 1));
    return items.length > ITEMS_MAX ? [...kept, `${items.length - ITEMS_MAX} more`] : kept;
  }

  /** Name, code, text, stack and causes. Other properties stay out: clients hang requests and responses on errors. */
  #error(error: Error, depth: number): Record<string, unknown> {
    const code =
      "code" in error && (typeof error.code === "string" || typeof error.code === "number") ? error.code : null;
    return {
      name: error.name,
      ...(code === null ? {} : { code }),
      text: cut(error.message, TEXT_MAX),
      ...(error.stack === undefined ? {} : { stack: cut(error.stack, STACK_MAX) }),
      ...(error.cause === undefined ? {} : { cause: this.#value(error.cause, depth + 1) }),
    };
  }
}

function prettyLine(line: string): string {
  const { level, time, msg, ...fields } = parseLine(line);
  const rest = Object.entries(fields).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `${name}=${/[\s"]/.test(text) && typeof value === "string" ? JSON.stringify(text) : text}`;
  });
  const head = [String(time).slice(11, 23), String(level).toUpperCase().padEnd(5), String(msg).replaceAll("\n", "\\n")];
  return `${[...head, ...rest].join(" ").replaceAll(CONTROLS, escaped)}\n`;
}

function parseLine(line: string): Record<string, unknown> {
  const parsed: unknown = JSON.parse(line);
  return typeof parsed === "object" && parsed !== null ? { ...parsed } : { msg: line };
}
