import { createRecordSource } from "../../../../consumers/kafka/index.ts";
import { systemClock } from "../../../../src/clock.ts";
import { keepingLogger } from "./keeping-logger.ts";

/**
 * A group member in a process of its own, to be frozen or killed: `member-process.ts broker topic group sessionMs`.
 * Writes `member <id>` at each join and `records <count>` after each batch. A line on its standard input is an offset that it
 * commits under its first assignment, and answers with `commit <outcome>`; it stops at the end of that input, and then has to
 * end by itself.
 */
const [broker = "", topic = "", group = "", sessionMs = "6000"] = process.argv.slice(2);
const timings = { sessionTimeoutMs: Number(sessionMs), heartbeatMs: 500 };
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

const source = createRecordSource({
  brokers: [broker],
  topic,
  group,
  clientId: "ysearch-test-member",
  clock: systemClock,
  logger: keepingLogger(),
  timings,
  onMemberId: (memberId) => say(`member ${memberId}`),
});
let records = 0;
let first: number | undefined;
source.start({
  assigned: ({ epoch, partitions }) => {
    first ??= epoch;
    for (const partition of partitions) source.begin(epoch, partition, 0);
  },
  revoked: () => undefined,
  rebalancing: () => undefined,
  batch: (batch) => {
    records += batch.count;
    say(`records ${records}`);
  },
  fault: ({ text }) => say(`fault ${text}`),
  state: () => undefined,
});
process.stdin.on("data", (line: Buffer) => {
  const watermarks = new Map([[0, Number(line.toString())]]);
  void source.commit(first ?? 0, watermarks).then(({ outcome }) => say(`commit ${outcome}`));
});
process.stdin.once("end", () => {
  void source.stop(5_000).then(() => say("stopped"));
});
