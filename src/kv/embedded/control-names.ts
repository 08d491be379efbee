import type { OwnerGroup } from "./owner-group.ts";
import { keyText } from "./protocol.ts";
import { storeKey } from "./wire.ts";

/**
 * Names of control cells that begin with `prefix`, in pages of about `limit`, in the order of their UTF-8 bytes: every name
 * that at least one of R owners has, those of absent records included.
 * @throws KvFault when fewer than R owners can answer
 */
export async function* listNames(
  group: OwnerGroup,
  prefix: string,
  limit: number,
): AsyncGenerator<readonly string[], void, undefined> {
  const start = keyText(storeKey({ space: "control", key: Buffer.from(prefix, "utf8") }));
  let after: Uint8Array | undefined;
  for (;;) {
    const range = { prefix: start, after: after === undefined ? undefined : keyText(after), limit };
    const lists = await group.ask("a list", group.writeAcks, (link) => link.store.list(range));
    const ends = lists.filter((list) => !list.complete).flatMap((list) => list.keys.slice(-1));
    // Beyond the first owner's last name, the others' names may have gaps.
    const horizon = ends.toSorted((a, b) => Buffer.compare(a, b))[0];
    const names = new Map<string, Uint8Array>();
    for (const key of lists.flatMap((list) => list.keys)) {
      if (horizon === undefined || Buffer.compare(key, horizon) <= 0) names.set(nameOf(key), key);
    }
    yield [...names].toSorted(([, a], [, b]) => Buffer.compare(a, b)).map(([name]) => name);
    if (horizon === undefined) return;
    after = horizon;
  }
}

function nameOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset + 1, key.byteLength - 1).toString("utf8");
}
