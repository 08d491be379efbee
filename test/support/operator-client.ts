import { request } from "undici";

/** An answer: status, parsed body, ETag where it has one. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly etag: string | undefined;
}

/** What an operator's script does: HTTP only. */
export class OperatorClient {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async call(method: "GET" | "PUT" | "POST" | "DELETE", path: string, body?: object, etag?: string): Promise<Answer> {
    const response = await request(`${this.#url}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(etag === undefined ? {} : { "if-match": etag }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const parsed = (await response.body.json()) as Answer["body"];
    const header = response.headers["etag"];
    return { status: response.statusCode, body: parsed, etag: typeof header === "string" ? header : undefined };
  }

  partition(partition: number): Promise<Answer> {
    return this.call("GET", `/v1/sources/articles/partitions/${partition}`);
  }

  /** Reads the partition's ETag, then resumes it, as its page says. */
  async resume(partition: number, body: object): Promise<Answer> {
    const { etag } = await this.partition(partition);
    const path = `/v1/sources/articles/partitions/${partition}/resume`;
    return this.call("POST", path, { reason: "told by its page", ...body }, etag);
  }

  /** Gaps of the source, and audit entries, as they name each other. */
  async gaps(query = ""): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { body } = await this.call("GET", `/v1/gaps?source=articles${query}`);
    return body["gaps"] as readonly Readonly<Record<string, unknown>>[];
  }

  async audit(): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { body } = await this.call("GET", "/v1/audit");
    return body["entries"] as readonly Readonly<Record<string, unknown>>[];
  }
}
