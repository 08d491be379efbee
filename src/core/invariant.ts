/** An invariant of ours that does not hold: a bug, never an operating error. */
export class InvariantViolation extends Error {
  readonly code: string;

  constructor(code: string, detail: string) {
    super(`${code}: ${detail}`);
    this.name = "InvariantViolation";
    this.code = code;
  }
}

/**
 * Asserts what our own code promises; stays on in production.
 *
 * The unit that fails is the partition: whoever runs it catches {@link InvariantViolation}, stops that partition
 * without committing, and leaves the process up.
 *
 * @throws InvariantViolation when `condition` is false.
 */
export function invariant(condition: boolean, code: string, detail: string): asserts condition {
  if (!condition) throw new InvariantViolation(code, detail);
}

/** Marks a branch that the type system proves unreachable. @throws InvariantViolation always. */
export function unreachable(value: never): never {
  throw new InvariantViolation("UNREACHABLE", `unexpected ${JSON.stringify(value)}`);
}
