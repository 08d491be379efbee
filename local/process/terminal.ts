/** A terminal that was closed takes no more lines: keeps that from ending this process before it has cleaned up. */
export function outliveTerminal(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
}
