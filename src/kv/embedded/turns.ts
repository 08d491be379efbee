/** Resolves in the next round of the event loop: in between, requests are answered and owners heard. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
