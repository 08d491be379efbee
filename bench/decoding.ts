/**
 * Cost of decoding one record: ours against protobufjs' full decode of the same bytes, each in rounds that alternate, best
 * round counted. Run: `npx tsx bench/decoding.ts`. Prints nanoseconds per record and ratios; bar: counting kinds at least 3.
 */
import protobuf from "protobufjs";
import { createDecoderCompiler } from "../src/decoding/compiler.ts";
import { BUILTIN_DESCRIPTORS } from "../src/descriptors/builtin.ts";
import type { KindInput, RecordDecoder } from "../src/ports/decoder.ts";

const ROUNDS = 9;
const ROUND_MS = 120;
const RECORDS = 1_000;

type Inputs = Readonly<Record<string, readonly [readonly number[], KindInput["type"]]>>;

function decoder(subject: string, inputs: Inputs, body: "json" | "original" | "none"): RecordDecoder {
  const builtin = BUILTIN_DESCRIPTORS.find((one) => one.subject === subject);
  if (builtin === undefined) throw new Error(`no built-in subject ${subject}`);
  return createDecoderCompiler().compile({
    format: "protobuf",
    framing: "none",
    descriptor: { descriptor: { subject, version: 1, files: builtin.files }, message: builtin.message },
    inputs: Object.entries(inputs).map(([name, [, type]]) => ({ name, type, required: false })),
    mapping: Object.fromEntries(Object.entries(inputs).map(([name, [path]]) => [name, path])),
    body,
  });
}

function reference(subject: string): protobuf.Type {
  const builtin = BUILTIN_DESCRIPTORS.find((one) => one.subject === subject);
  const root = new protobuf.Root();
  root.addJSON(protobuf.common.get("google/protobuf/timestamp.proto")?.nested ?? {});
  for (const source of Object.values(builtin?.files ?? {})) protobuf.parse(source, root, { keepCase: true });
  root.resolveAll();
  return root.lookupType(builtin?.message ?? "");
}

/** Nanoseconds per record of the best of several rounds. */
function measure(runs: readonly (() => void)[]): number[] {
  const best = runs.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, run] of runs.entries()) {
      const start = process.hrtime.bigint();
      let count = 0;
      let elapsed = 0;
      while (elapsed < ROUND_MS * 1e6) {
        run();
        count += RECORDS;
        elapsed = Number(process.hrtime.bigint() - start);
      }
      best[index] = Math.min(best[index] ?? elapsed, elapsed / count);
    }
  }
  return best;
}

let sink: unknown;

function compare(
  name: string,
  subject: string,
  make: (index: number) => object,
  decoders: Record<string, RecordDecoder>,
) {
  const type = reference(subject);
  const values = Array.from({ length: RECORDS }, (_, index) =>
    Buffer.from(type.encode(type.fromObject(make(index))).finish()),
  );
  const bytes = values.reduce((sum, value) => sum + value.length, 0) / RECORDS;
  const full = (): void => {
    for (const value of values) sink = type.decode(value);
  };
  const ours = Object.values(decoders).map((one) => (): void => {
    for (const value of values) sink = one.decode(value);
  });
  const [base = 0, ...times] = measure([full, ...ours]);
  console.log(`${name}, ${bytes.toFixed(0)} bytes: protobufjs full decode ${base.toFixed(0)} ns`);
  for (const [index, label] of Object.keys(decoders).entries()) {
    const time = times[index] ?? 0;
    console.log(`  ${label.padEnd(22)} ${time.toFixed(0).padStart(6)} ns   ${(base / time).toFixed(2)} times as fast`);
  }
}

const seconds = 1_790_000_000;

compare(
  "Beacon",
  "ysearch.beacon",
  (index) => ({
    article_id: `a${(index * 7_919) % 100_000}`,
    metric: index % 3 === 0 ? "read_10s" : "view",
    occurred_at: { seconds: seconds + index, nanos: 123_000_000 },
    visitor_hash: String(BigInt.asUintN(64, BigInt(index) * 0x9e37_79b9_7f4a_7c15n)),
    count: 1,
  }),
  {
    "5 inputs": decoder(
      "ysearch.beacon",
      {
        article: [[1], "text"],
        metric: [[2], "text"],
        at: [[3], "time"],
        visitor: [[4], "integer"],
        count: [[5], "integer"],
      },
      "none",
    ),
    "2 inputs": decoder("ysearch.beacon", { article: [[1], "text"], at: [[3], "time"] }, "none"),
  },
);

compare(
  "AdAction",
  "ysearch.ad_action",
  (index) => ({
    campaign_id: `campaign-${index % 500}`,
    article_id: `article-${(index * 7_919) % 100_000}`,
    placement_id: `p${index % 20}`,
    site_id: `site-${index % 50}`,
    publisher_id: `pub-${index % 30}`,
    action: 1 + (index % 2),
    served_score: (index % 1_000) / 1_000,
    occurred_at: { seconds: seconds + index, nanos: 5_000_000 },
  }),
  {
    "8 inputs": decoder(
      "ysearch.ad_action",
      {
        campaign: [[1], "text"],
        article: [[2], "text"],
        placement: [[3], "text"],
        site: [[4], "text"],
        publisher: [[5], "text"],
        action: [[6], "enum"],
        score: [[7], "number"],
        at: [[8], "time"],
      },
      "none",
    ),
  },
);

const paragraph = 'The council met on Tuesday; "nothing was decided", said the mayor.\n';

compare(
  "Article",
  "ysearch.article",
  (index) => ({
    id: `article-${index}`,
    url: `https://news.example/2026/12/01/article-${index}`,
    title: "A headline of the usual length for an article",
    body: paragraph.repeat(15),
    language: "en",
    authors: ["A. Writer", "B. Writer"],
    tags: ["politics", "local", "council"],
    publisher: { id: "pub-1", name: "The Example" },
    published_at: { seconds: seconds + index },
    section: "politics",
  }),
  {
    "id and JSON body": decoder("ysearch.article", { id: [[1], "text"] }, "json"),
    "id and original body": decoder("ysearch.article", { id: [[1], "text"] }, "original"),
    "id alone": decoder("ysearch.article", { id: [[1], "text"] }, "none"),
  },
);

if (sink === undefined) throw new Error("nothing was decoded");
