import { FieldWriter, type Load, putDigits } from "./load.ts";

/** What decides a load of articles. */
export interface ArticlePlan {
  readonly records: number;
  /** Different articles; with as many as records each is new. */
  readonly articles: number;
  /** Bytes of an article's text; the whole record has about 130 more. */
  readonly bodyBytes: number;
  /** In seconds since 1970. */
  readonly publishedSeconds: number;
}

const DIGITS = 8;
const encoder = new TextEncoder();
const TITLE = encoder.encode("A headline of the usual length for an article");
const LANGUAGE = encoder.encode("en");
const SENTENCE = "The council met on Tuesday; nothing was decided, said the mayor, and the harbour stays closed. ";

/** Articles as a newsroom would send them, in an order that has nothing to do with their ids. */
export class ArticleLoad implements Load {
  readonly plan: ArticlePlan;
  readonly key = new Uint8Array(1 + DIGITS);
  readonly keyBytes = 1 + DIGITS;
  readonly #url = encoder.encode("https://news.example/publisher-1/a00000000");
  readonly #body: Uint8Array;
  readonly #writer: FieldWriter;
  #made = 0;

  constructor(plan: ArticlePlan) {
    this.plan = plan;
    this.key[0] = 0x61;
    this.#body = encoder.encode(SENTENCE.repeat(Math.ceil(plan.bodyBytes / SENTENCE.length)).slice(0, plan.bodyBytes));
    this.#writer = new FieldWriter(plan.bodyBytes + 256);
  }

  get records(): number {
    return this.plan.records;
  }

  get value(): Uint8Array {
    return this.#writer.bytes;
  }

  get valueBytes(): number {
    return this.#writer.length;
  }

  next(): boolean {
    if (this.#made === this.plan.records) return false;
    const article = (this.#made * 7_919) % this.plan.articles;
    this.#made += 1;
    putDigits(this.key, 1, article, DIGITS);
    putDigits(this.#url, this.#url.length - DIGITS, article, DIGITS);
    const writer = this.#writer;
    writer.length = 0;
    writer.text(1, this.key);
    writer.text(2, this.#url);
    writer.text(3, TITLE);
    writer.text(4, this.#body);
    writer.text(5, LANGUAGE);
    writer.seconds(9, this.plan.publishedSeconds);
    return true;
  }
}
