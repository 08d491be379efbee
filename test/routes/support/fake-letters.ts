import type { LetterPage, LetterQueries, LetterQuery } from "../../../src/ports/letters.ts";

/** Two letters, and what was asked. */
export class FakeLetters implements LetterQueries {
  readonly asked: (readonly [string, LetterQuery])[] = [];
  failure: Error | undefined;
  page: LetterPage = {
    topic: "articles.dlq",
    letters: [
      {
        state: "open",
        letter: {
          source: "articles",
          topic: "articles",
          topicEpoch: 0,
          partition: 3,
          offset: 9_007_199_254_740,
          timestampMs: -1,
          key: Buffer.from("secret-key"),
          value: Uint8Array.of(255, 0),
          headers: [
            { name: Uint8Array.of(255), value: null },
            { name: Uint8Array.of(255), value: Buffer.from("secret-header") },
          ],
          fault: { code: "DECODE_TRUNCATED", text: "field 3 ends early" },
          descriptorVersion: 7,
          revision: 4,
          attempt: 2,
          firstSeenMs: 1_000,
          publishedMs: 2_000,
          place: { partition: 0, offset: 17 },
          omitted: {},
        },
      },
      {
        state: "unknown",
        letter: {
          source: "articles",
          topic: "articles",
          topicEpoch: 1,
          partition: 0,
          offset: 4,
          timestampMs: 5,
          key: null,
          value: null,
          headers: [],
          fault: { code: "CONTRACT_KEY_TOO_LONG", text: "the record's key is too long" },
          descriptorVersion: 0,
          revision: 1,
          attempt: 1,
          firstSeenMs: 0,
          publishedMs: -7,
          place: { partition: 0, offset: 18 },
          omitted: { value: { bytes: 3, sha256: "ab" }, key: { bytes: 900, sha256: "cd" }, headers: 2 },
        },
      },
    ],
    next: "0/19",
    looked: { records: 30, of: 30 },
    origins: 2,
    asOf: 5_000,
  };

  list(source: string, query: LetterQuery): Promise<LetterPage> {
    this.asked.push([source, query]);
    return this.failure === undefined ? Promise.resolve(this.page) : Promise.reject(this.failure);
  }
}
