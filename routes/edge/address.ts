/** The parts of a request target that decide where it goes. */
export interface Address {
  /** As sent: percent-encoded. */
  readonly path: string;
  /** Without the question mark; empty when there is none. */
  readonly query: string;
  /** Of an absolute target (`GET http://host/path`): it overrides the Host header (RFC 9112, section 3.2.2). */
  readonly authority?: string;
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/** Splits a request target. `target` is `request.raw.url`. */
export function readAddress(target: string): Address {
  const absolute = ABSOLUTE.exec(target);
  const rest = absolute === null ? target : target.slice(absolute[0].length);
  const mark = rest.indexOf("?");
  const path = mark < 0 ? rest : rest.slice(0, mark);
  const parts = { path: path === "" ? "/" : path, query: mark < 0 ? "" : rest.slice(mark + 1) };
  return absolute?.[1] === undefined ? parts : { ...parts, authority: absolute[1] };
}

/** Whether a target has only characters that a target may have: raw bytes above ASCII would be read as Latin-1. */
export function isCleanTarget(target: string): boolean {
  return /^[\x21\x22\x24-\x7e]+$/.test(target);
}
