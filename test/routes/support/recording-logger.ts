import type { FastifyBaseLogger } from "fastify";

/** One line of the log. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A logger that keeps its lines in `lines`. */
export function recordingLogger(lines: LogLine[], bindings: Readonly<Record<string, unknown>> = {}): FastifyBaseLogger {
  const at = (level: string) => (first: unknown, second?: unknown) => {
    const fields = typeof first === "object" && first !== null ? Object.fromEntries(Object.entries(first)) : {};
    const message = typeof first === "string" ? first : typeof second === "string" ? second : "";
    lines.push({ level, message, fields: { ...bindings, ...fields } });
  };
  return {
    level: "trace",
    silent: () => undefined,
    fatal: at("fatal"),
    error: at("error"),
    warn: at("warn"),
    info: at("info"),
    debug: at("debug"),
    trace: at("trace"),
    child: (more: Record<string, unknown>) => recordingLogger(lines, { ...bindings, ...more }),
  } as FastifyBaseLogger;
}
