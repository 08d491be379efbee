/**
 * Every limit of the HTTP edge, in one place. `requestBodyBytes` and `connectionsMax` are what a deployment may set;
 * the others follow from what the API carries and from how Node's server behaves.
 */
export interface HttpLimits {
  /** Largest request body, bytes. Above it: 413. */
  readonly requestBodyBytes: number;
  /** Deepest nesting of a JSON body, levels. Above it: 400. */
  readonly requestBodyDepth: number;
  /** Open connections. At it the one that has been idle longest makes room; where none is, a new one is closed without an answer. */
  readonly connectionsMax: number;
  /** Answers that wait at once (`?wait=`), at most half of the connections. Above it: 429. */
  readonly waitsMax: number;
  /** Longest wait for a whole request, its headers included, milliseconds. Above it: 408. */
  readonly requestTimeoutMs: number;
  /** Longest wait for the headers of a request, milliseconds. Above it: 408. */
  readonly headersTimeoutMs: number;
  /** How long an idle connection is kept, milliseconds: longer than the 60 s after which load balancers give up theirs. */
  readonly keepAliveTimeoutMs: number;
  /** Longest wait for an answer of the services, milliseconds. Above it: 503. */
  readonly answerTimeoutMs: number;
  /** Request line and headers together, bytes. Above it: 431. */
  readonly headerBytes: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  requestBodyBytes: 1024 * 1024,
  requestBodyDepth: 32,
  connectionsMax: 1_024,
  waitsMax: 256,
  requestTimeoutMs: 30_000,
  headersTimeoutMs: 15_000,
  keepAliveTimeoutMs: 72_000,
  answerTimeoutMs: 30_000,
  headerBytes: 16 * 1024,
};

/** How often Node looks for connections past their header or request time-out, milliseconds. */
export const CONNECTION_CHECK_MS = 2_000;

/** What a 503 and a 429 tell the client to wait, seconds. */
export const RETRY_AFTER_SECONDS = 2;

/** Longest path parameter as it is sent: 512 bytes of UTF-8, each percent-encoded as three characters. */
export const PATH_PARAMETER_CHARACTERS = 512 * 3;

/**
 * Completes limits and checks what must hold between them.
 * @throws RangeError when a limit is not a positive integer, or headers may take longer than the whole request: a fault of the wiring.
 */
export function completeLimits(given: Partial<HttpLimits>): HttpLimits {
  const connections = given.connectionsMax ?? DEFAULT_HTTP_LIMITS.connectionsMax;
  const waitsMax = Math.min(DEFAULT_HTTP_LIMITS.waitsMax, Math.ceil(connections / 2));
  const limits = { ...DEFAULT_HTTP_LIMITS, waitsMax, ...given };
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RangeError(`limit ${name} is ${value}, not a positive integer`);
  }
  if (limits.headersTimeoutMs > limits.requestTimeoutMs) {
    throw new RangeError(
      `limit headersTimeoutMs ${limits.headersTimeoutMs} is above requestTimeoutMs ${limits.requestTimeoutMs}`,
    );
  }
  if (limits.waitsMax > Math.ceil(limits.connectionsMax / 2)) {
    throw new RangeError(`limit waitsMax ${limits.waitsMax} is above half of connectionsMax ${limits.connectionsMax}`);
  }
  return limits;
}
