import { beforeEach, describe, expect, it } from "vitest";
import { kinds } from "../../consumers/index.ts";
import { encodeDocumentCell } from "../../src/core/cell.ts";
import { documentKey } from "../../src/core/keys.ts";
import type { SourceDefinition } from "../../src/core/source.ts";
import { versionOf } from "../../src/core/version.ts";
import { recordNames } from "../../src/control/records.ts";
import { StreamsError } from "../../src/errors.ts";
import { LetterService } from "../../src/letters/letter-service.ts";
import type { DeadLetter } from "../../src/ports/dead-letters.ts";
import type { LetterQuery, StoredLetter } from "../../src/ports/letters.ts";
import { definition } from "../support/fleet-world.ts";
import { LetterTopic } from "../support/letter-topic.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { MemoryPlane } from "../support/memory-plane.ts";

let letters: (DeadLetter & Partial<Pick<StoredLetter, "omitted">>)[] = [];
let topic = new LetterTopic(() => letters);
let plane = new MemoryPlane();
let clock = new ManualClock();

beforeEach(() => {
  letters = [];
  topic = new LetterTopic(() => letters);
  plane = new MemoryPlane();
  clock = new ManualClock();
});

function letter(offset: number, change: Partial<DeadLetter & Pick<StoredLetter, "omitted">> = {}) {
  return {
    source: "articles",
    topic: "articles",
    topicEpoch: 0,
    partition: 0,
    offset,
    timestampMs: 1_000,
    key: Buffer.from(`k${offset}`),
    value: Buffer.from("bad"),
    headers: [{ name: Buffer.from("h"), value: Buffer.from("1") }],
    fault: { code: "DECODE_TEST", text: "poison" },
    descriptorVersion: 1,
    revision: 3,
    attempt: 1,
    firstSeenMs: 2_000,
    ...change,
  };
}

function service(of: Partial<SourceDefinition> = {}): LetterService {
  const inForce = (name: string) => {
    if (name !== "articles") throw new StreamsError("SOURCE_UNKNOWN", "there is none");
    return { definition: { ...definition, ...of }, revision: 5, etag: "e" };
  };
  return new LetterService({ fleet: { inForce }, reader: topic, plane, kinds, clock });
}

/** All pages: origins as `partition/offset#attempt`, and how many pages there were. */
async function all(of: LetterService, query: LetterQuery = {}) {
  const found: string[] = [];
  let pages = 0;
  for (let cursor: string | undefined = "0/0"; cursor !== undefined && pages < 100; pages += 1) {
    const page = await of.list("articles", { ...query, cursor });
    found.push(
      ...page.letters.map(({ letter: { partition, offset, attempt } }) => `${partition}/${offset}#${attempt}`),
    );
    cursor = page.next;
  }
  return { found, pages };
}

async function put(id: string, offset: number, revision: number, partition = 0): Promise<void> {
  const bytes = encodeDocumentCell({
    revision,
    partition,
    state: "live",
    bodyFormat: "raw",
    descriptorVersion: 1,
    timestampMs: 1_000,
    body: Buffer.from("x"),
  });
  const order = versionOf({ topicEpoch: 0, offset });
  await plane.write([{ space: "document", key: documentKey("articles", id), order, bytes }]);
}

describe("dead letters", () => {
  it("are one per origin: the highest attempt, the last of equals, wherever the duplicates lie", async () => {
    letters = [
      letter(1),
      letter(2),
      letter(1, { attempt: 2 }),
      letter(1),
      letter(2),
      letter(1, { partition: 1 }),
      letter(1, { topicEpoch: 1 }),
      letter(9, { source: "another" }),
      letter(1, { attempt: 2, fault: { code: "LAST", text: "" } }),
    ];
    for (const limit of [1, 2, 50]) {
      expect((await all(service(), { limit })).found, `pages of ${limit}`).toEqual([
        "0/2#1",
        "1/1#1",
        "0/1#1",
        "0/1#2",
      ]);
    }
    const { letters: shown, origins } = await service().list("articles", { code: "LAST" });
    expect([shown.length, origins]).toEqual([1, 4]);
    expect(shown[0]?.letter).toMatchObject({ publishedMs: 7_008, firstSeenMs: 2_000, value: null, headers: [] });
    expect((await service().list("articles", { raw: true, limit: 1 })).letters[0]?.letter).toMatchObject({
      value: new Uint8Array(Buffer.from("bad")),
      headers: [{ name: new Uint8Array(Buffer.from("h")) }],
    });
  });

  it("are found by code, revision, descriptor version, partition and range", async () => {
    letters = [0, 1, 2, 3, 4, 5].map((offset) =>
      letter(offset, { partition: offset % 2, revision: offset, descriptorVersion: offset % 3 }),
    );
    const found = async (query: LetterQuery) => (await all(service(), query)).found;
    expect(await found({ revision: 4 })).toEqual(["0/4#1"]);
    expect(await found({ descriptorVersion: 1 })).toEqual(["1/1#1", "0/4#1"]);
    expect(await found({ partition: 0 })).toEqual(["0/0#1", "0/2#1", "0/4#1"]);
    expect(await found({ partition: 0, from: 2, to: 4 })).toEqual(["0/2#1"]);
    expect(await found({ code: "OTHER" })).toEqual([]);
  });

  it("of a topic that is too large for one request are looked through by several, in bounded pieces", async () => {
    letters = Array.from({ length: 400 }, (_unused, index) =>
      letter(index % 100, { attempt: 1 + Math.floor(index / 100) }),
    );
    topic.perRead = 10;
    topic.bytes = 1_048_576;
    const of = service();
    const first = await of.list("articles", {});
    expect(topic.reads, "32 MiB, ten a read").toBe(4);
    expect(first).toMatchObject({ letters: [], next: "0/0", looked: { records: 40, of: 400 } });
    const { found, pages } = await all(of);
    expect(found).toEqual(Array.from({ length: 100 }, (_unused, index) => `0/${index}#4`));
    expect(pages).toBeGreaterThan(10);
  });

  it("are looked through anew when the topic was made anew, and go on where they were when it grows", async () => {
    letters = [letter(1), letter(2)];
    const of = service();
    expect((await all(of)).found).toEqual(["0/1#1", "0/2#1"]);
    letters.push(letter(1, { attempt: 2 }));
    expect((await all(of)).found).toEqual(["0/2#1", "0/1#2"]);
    letters = [letter(7)];
    expect((await all(of)).found).toEqual(["0/7#1"]);
    topic.logStart = 1;
    letters.push(letter(8));
    expect((await all(of)).found).toEqual(["0/8#1"]);
  });

  it("are none where there is no topic; other failures are told", async () => {
    topic.missing = true;
    expect(await service().list("articles", {})).toMatchObject({ letters: [], looked: { records: 0, of: 0 } });
    topic.missing = false;
    letters = [letter(1)];
    topic.away = true;
    await expect(service().list("articles", {})).rejects.toMatchObject({ code: "broker-unreachable" });
    await expect(service().list("nobody", {})).rejects.toMatchObject({ code: "SOURCE_UNKNOWN" });
    for (const cursor of ["x", "0", "0/-1", "0/1/2", "-1/0"]) {
      await expect(service().list("articles", { cursor }), cursor).rejects.toMatchObject({ code: "CURSOR_UNKNOWN" });
    }
  });
});

describe("what became of a letter's record", () => {
  const stateOf = async (one: DeadLetter, of: Partial<SourceDefinition> = {}) => {
    letters = [one];
    return (await service(of).list("articles", {})).letters[0]?.state;
  };

  it("is told from the cell under its key", async () => {
    expect(await stateOf(letter(5)), "nothing").toBe("open");
    await put("k5", 4, 9);
    expect(await stateOf(letter(5)), "an older record").toBe("open");
    await put("k5", 5, 2);
    expect(await stateOf(letter(5)), "what an older revision made of it").toBe("open");
    await put("k5", 5, 4);
    expect(await stateOf(letter(5)), "a later revision applied it").toBe("applied");
    await put("k5", 6, 3);
    expect(await stateOf(letter(5)), "a newer record").toBe("superseded");
    await put("k7", 7, 4, 1);
    expect(await stateOf(letter(7)), "another partition's record at the same version").toBe("superseded");
    expect(await stateOf(letter(5, { topicEpoch: 1 })), "an earlier topic epoch").toBe("open");
  });

  it("is open for ever without a key that is an id, and unknown where the letter does not carry it", async () => {
    for (const key of [null, Buffer.alloc(0), Buffer.of(0xff)]) {
      expect(await stateOf(letter(1, { key }))).toBe("open");
    }
    expect(await stateOf(letter(1, { key: null, omitted: { key: { bytes: 900, sha256: "" } } }))).toBe("unknown");
    letters = [
      letter(1, { key: null }),
      letter(2, { key: null, omitted: { key: { bytes: 1, sha256: "" } } }),
      letter(3),
    ];
    await put("k3", 3, 4);
    const { letters: shown } = await service().list("articles", {});
    expect(
      shown.map(({ state }) => state),
      "each by its own cell",
    ).toEqual(["open", "unknown", "applied"]);
  });

  it("is told of counting kinds by the revision of the row that readers sum", async () => {
    const set = (name: string, value: object) =>
      plane.control.compareAndSet(name, undefined, Buffer.from(JSON.stringify(value)));
    const row = { openedAtMs: 0 };
    await set(recordNames.binding("articles"), {
      clusterId: "c",
      topic: "articles",
      epochs: [{ epoch: 0, partitions: 1 }],
      firstStart: "earliest",
    });
    await set(recordNames.ledger("articles", 0, 0), {
      rows: [
        { ...row, number: 3, from: 0, until: 10, revision: 4 },
        { ...row, number: 2, from: 10, until: 20, revision: 3 },
      ],
      nextNumber: 4,
      listed: [2, 3],
      former: [{ ...row, number: 1, from: 0, until: 10, revision: 3, replacedBy: 3 }],
      holder: null,
    });
    expect(await stateOf(letter(5), { kind: "traffic" })).toBe("recounted");
    expect(await stateOf(letter(15), { kind: "traffic" })).toBe("open");
    expect(await stateOf(letter(5, { topicEpoch: 1 }), { kind: "traffic" })).toBe("open");
    expect(await stateOf(letter(5, { partition: 3 }), { kind: "traffic" })).toBe("open");
  });
});
