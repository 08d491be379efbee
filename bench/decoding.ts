/**
 * Cost of decoding one record: ours against protobufjs' full decode of the same bytes, in rounds that alternate; processor
 * time, best round counted. Run: `npx tsx bench/decoding.ts`. Prints nanoseconds per record and ratios. Bar: the inputs of a
 * counting kind, read in place, at least 3 times as fast.
 */
import protobuf from "protobufjs";
import { createDecoderCompiler } from "../src/decoding/compiler.ts";
import { compileInPlace } from "../src/decoding/in-place.ts";
import { BUILTIN_DESCRIPTORS } from "../src/descriptors/builtin.ts";
import type { DecoderSpec, KindInput } from "../src/ports/decoder.ts";

const ROUNDS = 9;
const ROUND_MS = 120;
const RECORDS = 1_000;

type Inputs = Readonly<Record<string, readonly [readonly number[], KindInput["type"]]>>;

type Decode = (value: Uint8Array) => unknown;

function specOf(subject: string, inputs: Inputs, body: DecoderSpec["body"]): DecoderSpec {
  const builtin = BUILTIN_DESCRIPTORS.find((one) => one.subject === subject);
  if (builtin === undefined) throw new Error(`no built-in subject ${subject}`);
  return {
    format: "protobuf",
    framing: "none",
    descriptor: { descriptor: { subject, version: 1, files: builtin.files }, message: builtin.message },
    inputs: Object.entries(inputs).map(([name, [, type]]) => ({ name, type, required: false })),
    mapping: Object.fromEntries(Object.entries(inputs).map(([name, [path]]) => [name, path])),
    body,
  };
}

function valuesOf(subject: string, inputs: Inputs, body: DecoderSpec["body"] = "none"): Decode {
  const decoder = createDecoderCompiler().compile(specOf(subject, inputs, body));
  return (value) => decoder.decode(value);
}

function inPlace(subject: string, inputs: Inputs): Decode {
  const reader = compileInPlace(specOf(subject, inputs, "none"));
  return (value) => reader.read(value);
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
      const start = process.cpuUsage();
      let count = 0;
      let elapsed = 0;
      while (elapsed < ROUND_MS * 1e6) {
        run();
        count += RECORDS;
        elapsed = process.cpuUsage(start).user * 1_000;
      }
      best[index] = Math.min(best[index] ?? elapsed, elapsed / count);
    }
  }
  return best;
}

let sink: unknown;

function compare(name: string, subject: string, make: (index: number) => object, decoders: Record<string, Decode>) {
  const type = reference(subject);
  const values = Array.from({ length: RECORDS }, (_, index) =>
    Buffer.from(type.encode(type.fromObject(make(index))).finish()),
  );
  const bytes = values.reduce((sum, value) => sum + value.length, 0) / RECORDS;
  const full = (): void => {
    for (const value of values) sink = type.decode(value);
  };
  const ours = Object.values(decoders).map((one) => (): void => {
    for (const value of values) sink = one(value);
  });
  const [base = 0, ...times] = measure([full, ...ours]);
  console.log(`${name}, ${bytes.toFixed(0)} bytes: protobufjs full decode ${base.toFixed(0)} ns`);
  for (const [index, label] of Object.keys(decoders).entries()) {
    const time = times[index] ?? 0;
    console.log(`  ${label.padEnd(22)} ${time.toFixed(0).padStart(6)} ns   ${(base / time).toFixed(2)} times as fast`);
  }
}

const seconds = 1_790_000_000;

const BEACON: Inputs = {
  article: [[1], "text"],
  metric: [[2], "text"],
  at: [[3], "time"],
  visitor: [[4], "integer"],
  count: [[5], "integer"],
};

const AD_ACTION: Inputs = {
  campaign: [[1], "text"],
  article: [[2], "text"],
  placement: [[3], "text"],
  site: [[4], "text"],
  publisher: [[5], "text"],
  action: [[6], "enum"],
  score: [[7], "number"],
  at: [[8], "time"],
};

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
    "5 inputs, in place": inPlace("ysearch.beacon", BEACON),
    "5 inputs, values": valuesOf("ysearch.beacon", BEACON),
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
    "8 inputs, in place": inPlace("ysearch.ad_action", AD_ACTION),
    "8 inputs, values": valuesOf("ysearch.ad_action", AD_ACTION),
  },
);

const ARTICLE = reference("ysearch.article");
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
    "id and JSON body": valuesOf("ysearch.article", { id: [[1], "text"] }, "json"),
    "protobufjs to JSON": (value) => {
      const message = ARTICLE.decode(value);
      return Buffer.from(JSON.stringify(ARTICLE.toObject(message, { longs: String, enums: String, bytes: String })));
    },
    "id and original body": valuesOf("ysearch.article", { id: [[1], "text"] }, "original"),
    "id alone": valuesOf("ysearch.article", { id: [[1], "text"] }, "none"),
  },
);

if (sink === undefined) throw new Error("nothing was decoded");
