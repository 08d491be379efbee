/** A task that a package script names. */
export interface Task {
  readonly build: boolean;
  readonly check: boolean;
  readonly countsTests: boolean;
  /** Arguments for this Node. */
  readonly command: readonly string[];
}
export function nodeObstacle(version: string): string | undefined;
export function isInstalled(lock: unknown, installed: unknown): boolean;
export function planTask(name: string | undefined, args: readonly string[]): Task | string;
export function closingLine(counts: unknown): { readonly line: string; readonly ran: boolean };
