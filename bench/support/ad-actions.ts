import { FieldWriter, type Load, putDigits } from "./load.ts";
import { Random, Zipf } from "./random.ts";

/** What decides a load of ad actions, and with it every counter's total. */
export interface ActionPlan {
  readonly seed: number;
  readonly records: number;
  readonly campaigns: number;
  readonly articles: number;
  readonly placements: number;
  readonly sites: number;
  readonly publishers: number;
  readonly hours: number;
  /** Start of the first hour, in seconds since 1970. */
  readonly fromSeconds: number;
}

/** One ad action by its numbers; a placement, site or publisher of 0 is not known. */
export interface ActionEvent {
  campaign: number;
  article: number;
  placement: number;
  site: number;
  publisher: number;
  click: boolean;
  /** In thousandths; undefined: served without a score. */
  score: number | undefined;
  hour: number;
}

const DIGITS = 6;
const HOUR_SECONDS = 3_600;
const ACTION_IMPRESSION = 1;
const ACTION_CLICK = 2;

/** Id of a member: a letter and its number; empty for a placement, site or publisher that is not known. */
export function memberId(letter: "c" | "a" | "p" | "s" | "b", number: number): string {
  return letter !== "c" && letter !== "a" && number === 0 ? "" : `${letter}${String(number).padStart(DIGITS, "0")}`;
}

/** Ad actions whose campaigns and articles are drawn by Zipf(1.0); one in ten is a click, one in twenty has no score. */
export class ActionLoad implements Load {
  readonly plan: ActionPlan;
  readonly keyBytes = 1 + DIGITS;
  /** The present event. */
  readonly event: ActionEvent = {
    campaign: 0,
    article: 0,
    placement: 0,
    site: 0,
    publisher: 0,
    click: false,
    score: undefined,
    hour: 0,
  };
  readonly #texts = ["c", "a", "p", "s", "b"].map((letter) => Uint8Array.of(letter.charCodeAt(0), ...zeros(DIGITS)));
  readonly #writer = new FieldWriter(256);
  readonly #score = new DataView(new ArrayBuffer(8));
  readonly #random: Random;
  readonly #campaign: Zipf;
  readonly #article: Zipf;
  #made = 0;

  constructor(plan: ActionPlan) {
    this.plan = plan;
    this.#random = new Random(plan.seed);
    this.#campaign = new Zipf(plan.campaigns, this.#random);
    this.#article = new Zipf(plan.articles, this.#random);
  }

  get records(): number {
    return this.plan.records;
  }

  get key(): Uint8Array {
    return this.#texts[0] ?? new Uint8Array(0);
  }

  get value(): Uint8Array {
    return this.#writer.bytes;
  }

  get valueBytes(): number {
    return this.#writer.length;
  }

  next(): boolean {
    if (!this.#draw()) return false;
    const { campaign, article, placement, site, publisher, click, score, hour } = this.event;
    const writer = this.#writer;
    writer.length = 0;
    for (const [index, number] of [campaign, article, placement, site, publisher].entries()) {
      const text = this.#texts[index] ?? new Uint8Array(0);
      putDigits(text, 1, number, DIGITS);
      if (index < 2 || number > 0) writer.text(index + 1, text);
    }
    writer.tag(6, 0);
    writer.varint(click ? ACTION_CLICK : ACTION_IMPRESSION);
    if (score !== undefined) {
      writer.tag(7, 1);
      this.#score.setFloat64(0, score / 1_000, true);
      writer.uint32(this.#score.getUint32(0, true));
      writer.uint32(this.#score.getUint32(4, true));
    }
    writer.seconds(8, this.plan.fromSeconds + hour * HOUR_SECONDS + (this.#made % HOUR_SECONDS));
    return true;
  }

  /** Calls `take` for every event of the same plan, from the first on; the event is valid during the call. */
  static replay(plan: ActionPlan, take: (event: Readonly<ActionEvent>) => void): void {
    const load = new ActionLoad(plan);
    while (load.#draw()) take(load.event);
  }

  #draw(): boolean {
    const { records, articles, placements, sites, publishers, hours } = this.plan;
    if (this.#made === records) return false;
    this.#made += 1;
    const { event } = this;
    const random = this.#random;
    event.campaign = this.#campaign.next();
    event.article = (this.#article.next() * 7_919) % articles;
    event.placement = random.below(placements);
    event.site = random.below(sites);
    event.publisher = random.below(publishers);
    event.click = random.below(10) === 0;
    event.score = random.below(20) === 0 ? undefined : random.below(1_001);
    event.hour = random.below(hours);
    return true;
  }
}

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0x30);
}
