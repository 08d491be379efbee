import { contractMessage } from "./contract.ts";

/** One record of the articles feed, as a producer would send it. */
export interface FeedRecord {
  readonly key: string;
  readonly value: Buffer | null;
  readonly timestampMs: number;
}

/** An article as the feed knows it; what it should look like in the store is {@link expectedBody}. */
export interface FeedArticle {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly language: string;
  readonly authors: readonly string[];
  readonly tags: readonly string[];
  readonly publisher: { readonly id: string; readonly name: string };
  readonly publishedAt: number;
  readonly revision: number;
}

const Article = contractMessage("article.proto", "Article");

/** A field that this build's contract does not have yet: number 30, length-delimited. Producers may be newer than we are. */
const NEWER_FIELD = Buffer.from([0xf2, 0x01, 0x05, ...Buffer.from("newer")]);

const SUBJECTS = ["Harbour", "Rail line", "Museum", "Orchard", "Observatory", "Library", "Market", "Lighthouse"];
const EVENTS = [
  "reopens after repairs",
  "publishes its accounts",
  "wins a prize",
  "closes for the winter",
  "is extended",
];
const LANGUAGES = ["en", "de", "fr", "pt-BR"];

/** A repeatable article: the same number and revision give the same content. */
export function articleOf(number: number, revision: number, nowMs: number): FeedArticle {
  const pick = <T>(list: readonly T[], salt: number): T => {
    const chosen = list[(number * 31 + revision * 17 + salt) % list.length];
    if (chosen === undefined) throw new Error("an empty list");
    return chosen;
  };
  const title = `${pick(SUBJECTS, 1)} ${pick(EVENTS, revision)}`;
  return {
    id: `article-${number}`,
    title: `${title} (${revision})`,
    body: `${title}. `.repeat(3 + ((number + revision) % 12)),
    language: pick(LANGUAGES, 2),
    authors: number % 3 === 0 ? ["A. Rivera", "Jø Åse"] : ["M. Okafor"],
    tags: [`topic-${number % 7}`, `region-${number % 11}`],
    publisher: { id: `publisher-${number % 5}`, name: `Publisher ${number % 5}` },
    publishedAt: Math.floor(nowMs / 1_000) * 1_000,
    revision,
  };
}

/** The wire bytes of an article. `newer` adds a field that the contract does not know. */
export function encodeArticle(article: FeedArticle, newer: boolean): Buffer {
  const message = Article.create({
    id: article.id,
    url: urlOf(article),
    title: article.title,
    body: article.body,
    language: article.language,
    authors: article.authors,
    tags: article.tags,
    publisher: article.publisher,
    publishedAt: { seconds: article.publishedAt / 1_000 },
    attributes: { revision: String(article.revision) },
  });
  const bytes = Buffer.from(Article.encode(message).finish());
  return newer ? Buffer.concat([bytes, NEWER_FIELD]) : bytes;
}

/** What the service must answer for an article: canonical proto3 JSON, without what the contract does not know. */
export function expectedBody(article: FeedArticle): Readonly<Record<string, unknown>> {
  return {
    id: article.id,
    url: urlOf(article),
    title: article.title,
    body: article.body,
    language: article.language,
    authors: article.authors,
    tags: article.tags,
    publisher: article.publisher,
    publishedAt: new Date(article.publishedAt).toISOString().replace(".000Z", "Z"),
    attributes: { revision: String(article.revision) },
  };
}

/** A value that no descriptor of ours can decode: a length that runs past the end. */
export const POISON = Buffer.from([0x0a, 0x7f, 0x61]);

function urlOf(article: FeedArticle): string {
  return `https://news.example/${article.publisher.id}/${article.id}`;
}
