const SEED = 0x9747b28c;
const MIX = 0x5bd1e995;

/** The partition of a key as Kafka's clients choose it: MurmurHash2 of its bytes, the sign bit cleared, modulo the count. */
export function partitionOf(key: Uint8Array, bytes: number, partitions: number): number {
  return (murmur2(key, bytes) & 0x7fff_ffff) % partitions;
}

/** MurmurHash2 (Appleby), 32 bits, with the seed that Kafka's clients use; of the first `bytes` of `data`. */
function murmur2(data: Uint8Array, bytes: number): number {
  let hash = SEED ^ bytes;
  const whole = bytes - (bytes % 4);
  for (let at = 0; at < whole; at += 4) {
    let word = (data[at] ?? 0) | ((data[at + 1] ?? 0) << 8) | ((data[at + 2] ?? 0) << 16) | ((data[at + 3] ?? 0) << 24);
    word = Math.imul(word, MIX);
    word ^= word >>> 24;
    hash = Math.imul(hash, MIX) ^ Math.imul(word, MIX);
  }
  if (bytes > whole) {
    for (let at = bytes - 1; at >= whole; at -= 1) hash ^= (data[at] ?? 0) << (8 * (at - whole));
    hash = Math.imul(hash, MIX);
  }
  hash ^= hash >>> 13;
  hash = Math.imul(hash, MIX);
  return hash ^ (hash >>> 15);
}
