import type { Logger } from "../../../../src/ports/logger.ts";

/** A logger that keeps warnings and errors, to show them when a test fails. */
export function keepingLogger(): Logger & { readonly lines: string[] } {
  const lines: string[] = [];
  const keep =
    (level: string) =>
    (fields: object, text: string): void => {
      if (level === "debug" && process.env["KAFKA_TEST_DEBUG"] === undefined) return;
      lines.push(`${level} ${text} ${JSON.stringify(fields)}`);
      if (process.env["KAFKA_TEST_DEBUG"] !== undefined) process.stderr.write(`${lines.at(-1)}\n`);
    };
  const logger: Logger = {
    debug: keep("debug"),
    info: keep("info"),
    warn: keep("warn"),
    error: keep("error"),
    child: () => logger,
  };
  return Object.assign(logger, { lines });
}
