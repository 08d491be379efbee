import { FieldWriter, type Load, putDigits } from "./load.ts";
import { Random, Zipf } from "./random.ts";

/** What decides a load of beacons, and with it every counter's total. */
export interface BeaconPlan {
  readonly seed: number;
  readonly records: number;
  readonly articles: number;
  readonly metrics: readonly string[];
  /** Spans of an hour that the events lie in. */
  readonly hours: number;
  /** Start of the first, in seconds since 1970. */
  readonly fromSeconds: number;
  /** How many different visitors there are; 0: none is known, which takes as many bytes. */
  readonly visitors: number;
}

const DIGITS = 8;
const HOUR_SECONDS = 3_600;
const encoder = new TextEncoder();

/** Id of an article: 9 bytes, so that a beacon about it with the metric `view` has 34. */
export function articleId(article: number): string {
  return `a${String(article).padStart(DIGITS, "0")}`;
}

/**
 * Beacons whose articles are drawn by Zipf(1.0), in an order of popularity that has nothing to do with their numbers; each
 * counter (article, metric, hour) is hit at least once where there are as many records.
 */
export class BeaconLoad implements Load {
  readonly plan: BeaconPlan;
  readonly key = new Uint8Array(1 + DIGITS);
  readonly keyBytes = 1 + DIGITS;
  /** The counter that the present beacon counts into: article, then metric, then hour. */
  counter = 0;
  visitorHigh = 0;
  visitorLow = 0;
  readonly #writer = new FieldWriter(128);
  readonly #random: Random;
  readonly #zipf: Zipf;
  readonly #metrics: readonly Uint8Array[];
  readonly #stride: number;
  #made = 0;
  #covered = 0;

  constructor(plan: BeaconPlan) {
    this.plan = plan;
    this.#random = new Random(plan.seed);
    this.#zipf = new Zipf(plan.articles, this.#random);
    this.#metrics = plan.metrics.map((metric) => encoder.encode(metric));
    this.#stride = Math.max(1, Math.floor(plan.records / this.counters));
    this.key[0] = 0x61;
  }

  get records(): number {
    return this.plan.records;
  }

  get counters(): number {
    return this.plan.articles * this.plan.metrics.length * this.plan.hours;
  }

  get value(): Uint8Array {
    return this.#writer.bytes;
  }

  get valueBytes(): number {
    return this.#writer.length;
  }

  next(): boolean {
    if (!this.#draw()) return false;
    const { metrics, hours, fromSeconds } = this.plan;
    const article = Math.floor(this.counter / (metrics.length * hours));
    const metric = this.#metrics[Math.floor(this.counter / hours) % metrics.length] ?? new Uint8Array(0);
    const hour = this.counter % hours;
    putDigits(this.key, 1, article, DIGITS);
    const writer = this.#writer;
    writer.length = 0;
    writer.text(1, this.key);
    writer.text(2, metric);
    writer.seconds(3, fromSeconds + hour * HOUR_SECONDS + (this.#made % HOUR_SECONDS));
    writer.tag(4, 1);
    writer.uint32(this.visitorLow);
    writer.uint32(this.visitorHigh);
    return true;
  }

  /** Calls `take` for every event of the same plan, from the first on, without making records. */
  static replay(plan: BeaconPlan, take: (counter: number, visitorHigh: number, visitorLow: number) => void): void {
    const load = new BeaconLoad(plan);
    while (load.#draw()) take(load.counter, load.visitorHigh, load.visitorLow);
  }

  /** Events of every counter of a plan. */
  static totals(plan: BeaconPlan): Uint32Array {
    const totals = new Uint32Array(plan.articles * plan.metrics.length * plan.hours);
    BeaconLoad.replay(plan, (counter) => {
      totals[counter] = (totals[counter] ?? 0) + 1;
    });
    return totals;
  }

  #draw(): boolean {
    const { records, articles, metrics, hours, visitors } = this.plan;
    if (this.#made === records) return false;
    if (this.#made % this.#stride === 0 && this.#covered < this.counters) {
      this.counter = (this.#covered * 7_919) % this.counters;
      this.#covered += 1;
    } else {
      const article = (this.#zipf.next() * 15_485_863) % articles;
      this.counter = article * metrics.length * hours + this.#random.below(metrics.length * hours);
    }
    this.#made += 1;
    this.visitorHigh = visitors === 0 ? 0 : 1;
    this.visitorLow = this.#random.below(visitors);
    return true;
  }
}
