import type { Logger } from "../../src/ports/logger.ts";

/** A logger that says nothing. */
export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };
