import { type FeedArticle, type FeedRecord, POISON, articleOf, encodeArticle } from "./articles.ts";

/** What a feed should leave behind: the newest article per id, undefined where it was deleted. */
export type Expectation = Map<string, FeedArticle | undefined>;

/** Key of the poison record; it is never stored. */
export const POISON_KEY = "article-poison";

/** A repeatable feed of new articles, updates, deletes and newer fields; remembers what should be stored. */
export class ArticleFeed {
  readonly expected: Expectation = new Map();
  readonly #articles: number;
  #sent = 0;

  /** @param articles how many different articles there are */
  constructor(articles: number) {
    this.#articles = articles;
  }

  /** Records made so far, poison included. */
  get sent(): number {
    return this.#sent;
  }

  /** The next records: most are new or updated articles, every ninth repeats a delete, every third has a newer field. */
  next(count: number, nowMs: number): FeedRecord[] {
    return Array.from({ length: count }, () => this.#one(nowMs));
  }

  /** A record that cannot be decoded. */
  poison(nowMs: number): FeedRecord {
    this.#sent += 1;
    return { key: POISON_KEY, value: POISON, timestampMs: nowMs };
  }

  #one(nowMs: number): FeedRecord {
    const turn = this.#sent;
    this.#sent += 1;
    const number = (turn * 7_919) % this.#articles;
    const id = `article-${number}`;
    if (turn % 9 === 8) {
      this.expected.set(id, undefined);
      return { key: id, value: null, timestampMs: nowMs };
    }
    const article = articleOf(number, turn, nowMs);
    this.expected.set(id, article);
    return { key: id, value: encodeArticle(article, turn % 3 === 0), timestampMs: nowMs };
  }
}
