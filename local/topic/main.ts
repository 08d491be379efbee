import { parseArgs } from "node:util";
import { withAdmin } from "../broker/admin.ts";
import { LocalBrokerError } from "../broker/local-broker.ts";
import { createTopic } from "../broker/topics.ts";
import { waitUntilReady } from "../broker/readiness.ts";
import { parseBrokers } from "../broker/ways.ts";
import { articleOf, encodeArticle, POISON } from "../feed/articles.ts";
import { POISON_KEY } from "../feed/plan.ts";
import { FeedProducer } from "../feed/producer.ts";
import { outliveTerminal } from "../process/terminal.ts";
import { readTopic } from "./read-topic.ts";

const USAGE = `npm run topic -- create TOPIC [--partitions N]
npm run topic -- produce TOPIC [--records N] [--poison]
npm run topic -- read TOPIC [--last N] [--values]

Creates a topic, produces articles to it (article-0, article-1, …; with --poison one more record that nobody can decode),
or prints the newest records of each partition as JSON lines: key, headers, length of the value; with --values the value in base64.
Dead letters are records of the topic with '.dlq' behind its name.

  --brokers HOST:PORT   the broker; without it KAFKA_BROKERS, else localhost:9092
  --partitions N        4 by default
  --records N           10 by default
  --last N              most records of each partition, 20 by default`;

const READY_MS = 10_000;
const READ_MS = 30_000;

interface Flags {
  readonly brokers?: string;
  readonly partitions?: string;
  readonly records?: string;
  readonly last?: string;
  readonly poison?: boolean;
  readonly values?: boolean;
  readonly help?: boolean;
}

type Command = (brokers: readonly string[], topic: string, flags: Flags) => Promise<void>;

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ["create", create],
  ["produce", produce],
  ["read", read],
]);

async function create(brokers: readonly string[], topic: string, flags: Flags): Promise<void> {
  const partitions = count("partitions", flags.partitions, 4);
  await createTopic(brokers, { topic, partitions });
  console.log(`created ${topic} with ${partitions} partitions`);
}

async function produce(brokers: readonly string[], topic: string, flags: Flags): Promise<void> {
  const records = count("records", flags.records, 10);
  await mustExist(brokers, topic, flags);
  const producer = new FeedProducer(brokers, topic);
  await producer.connect();
  const now = Date.now();
  // Another one with each run, so that a second run shows as a change.
  const revision = Math.floor(now / 1_000);
  try {
    const articles = Array.from({ length: records }, (_unused, number) => articleOf(number, revision, now));
    const made = articles.map((article) => ({
      key: article.id,
      value: encodeArticle(article, false),
      timestampMs: now,
    }));
    const poison = flags.poison === true ? [{ key: POISON_KEY, value: POISON, timestampMs: now }] : [];
    await producer.send([...made, ...poison]);
  } finally {
    await producer.close();
  }
  const poisoned = flags.poison === true ? `, and ${POISON_KEY}, which nobody can decode` : "";
  console.log(`produced article-0 to article-${records - 1} (revision ${revision})${poisoned}`);
}

async function read(brokers: readonly string[], topic: string, flags: Flags): Promise<void> {
  const last = count("last", flags.last, 20);
  await mustExist(brokers, topic, flags);
  const records = await readTopic(brokers, { topic, last, values: flags.values === true, deadlineMs: READ_MS });
  for (const record of records) console.log(JSON.stringify(record));
  console.error(records.length === 1 ? "1 record" : `${records.length} records`);
}

async function mustExist(brokers: readonly string[], topic: string, flags: Flags): Promise<void> {
  const topics = await withAdmin(brokers, (admin) => admin.listTopics());
  if (topics.includes(topic)) return;
  const remedy = `npm run topic -- create ${topic}${flags.brokers === undefined ? "" : ` --brokers ${flags.brokers}`}`;
  throw new LocalBrokerError(`there is no topic ${topic} at ${brokers.join(",")}; '${remedy}' creates it`);
}

/** @throws LocalBrokerError when the flag is no whole number from 1 to 100,000 */
function count(flag: string, given: string | undefined, otherwise: number): number {
  const number = given === undefined ? otherwise : Number(given);
  if (Number.isInteger(number) && number >= 1 && number <= 100_000) return number;
  throw new LocalBrokerError(`--${flag} ${String(given)} is not a number from 1 to 100000`);
}

function readCommand(argv: readonly string[]): { readonly words: readonly string[]; readonly flags: Flags } | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        brokers: { type: "string" },
        partitions: { type: "string" },
        records: { type: "string" },
        last: { type: "string" },
        poison: { type: "boolean" },
        values: { type: "boolean" },
        help: { type: "boolean" },
      },
    });
    return { words: positionals, flags: values };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function main(argv: readonly string[]): Promise<number> {
  const given = readCommand(argv);
  if (typeof given === "string") {
    console.error(`${given}\n\n${USAGE}`);
    return 2;
  }
  const { words, flags } = given;
  const [word = "", topic, ...others] = words;
  const command = COMMANDS.get(word);
  if (flags.help === true || command === undefined || topic === undefined || others.length > 0) {
    console[flags.help === true ? "log" : "error"](USAGE);
    return flags.help === true ? 0 : 2;
  }
  outliveTerminal();
  try {
    const brokers = parseBrokers(flags.brokers ?? process.env["KAFKA_BROKERS"] ?? "localhost:9092");
    await waitUntilReady({ brokers, clusterId: undefined, deadlineMs: READY_MS, signal: undefined });
    await command(brokers, topic, flags);
    return 0;
  } catch (error) {
    console.error(error instanceof LocalBrokerError ? error.message : error);
    return 1;
  }
}

process.exit(await main(process.argv.slice(2)));
