import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

import { logLevel } from "kafkajs";
import { describe, expect, it, onTestFinished } from "vitest";

import { settleWithin, withDeadline } from "../../../consumers/kafka/client/deadline.ts";
import { createLogAdapter } from "../../../consumers/kafka/client/log-adapter.ts";
import { SocketGate } from "../../../consumers/kafka/client/socket-gate.ts";
import { FETCH_LIMITS, resolveSource, SOURCE_TIMINGS } from "../../../consumers/kafka/options.ts";
import { Backoff } from "../../../consumers/kafka/source/backoff.ts";
import { WakeUp } from "../../../consumers/kafka/source/wake-up.ts";
import { systemClock } from "../../../src/clock.ts";
import { Repeats } from "../../../src/core/repeats.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import { keepingLogger } from "./support/keeping-logger.ts";

/** A clock that is turned by hand. */
class HandClock implements Clock {
  #now = 0;
  readonly #tasks = new Set<{ readonly at: number; readonly task: () => void }>();

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(delayMs: number, task: () => void): () => void {
    const entry = { at: this.#now + delayMs, task };
    this.#tasks.add(entry);
    return () => this.#tasks.delete(entry);
  }

  get waiting(): number {
    return this.#tasks.size;
  }

  turn(ms: number): void {
    this.#now += ms;
    for (const entry of [...this.#tasks].filter(({ at }) => at <= this.#now)) {
      this.#tasks.delete(entry);
      entry.task();
    }
  }
}

async function silentServer(): Promise<{ port: number; peers: Socket[]; server: Server }> {
  const peers: Socket[] = [];
  const server = createServer((socket) => peers.push(socket.on("error", () => undefined)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const peer of peers) peer.destroy();
    server.close();
  });
  const address = server.address() as AddressInfo;
  return { port: address.port, peers, server };
}

function open(gate: SocketGate, port: number): Socket {
  const noTls = null as unknown;
  return gate.open({ host: "127.0.0.1", port, ssl: noTls as object, onConnect: () => undefined });
}

describe("the socket gate", () => {
  it("destroys a socket that owes an answer, and leaves an idle one alone", async () => {
    const clock = new HandClock();
    const { port, peers } = await silentServer();
    const gate = new SocketGate(clock, 1_000);
    const [idle, owing] = [open(gate, port), open(gate, port)];
    await Promise.all([once(idle, "connect"), once(owing, "connect")]);
    const failed = once(owing, "error");
    await new Promise<void>((resolve) => owing.write("request", () => resolve()));
    for (let turn = 0; turn < 8; turn += 1) clock.turn(250);
    expect((await failed)[0]).toMatchObject({ message: "no answer for 1000 ms" });
    expect(idle.destroyed).toBe(false);
    const answered = once(idle, "data");
    await new Promise<void>((resolve) => idle.write("request", () => resolve()));
    for (const peer of peers) peer.write("answer");
    await answered;
    for (let turn = 0; turn < 8; turn += 1) clock.turn(250);
    expect(idle.destroyed).toBe(false);
    gate.close();
  });

  it("shuts everything, for good", async () => {
    const { port } = await silentServer();
    const clock = new HandClock();
    const gate = new SocketGate(clock, 1_000);
    const socket = open(gate, port);
    await once(socket, "connect");
    const failed = once(socket, "error");
    gate.close();
    expect((await failed)[0]).toBeInstanceOf(Error);
    await expect.poll(() => clock.waiting).toBe(0);
    expect(() => open(gate, port)).toThrow(/closed/);
  });
});

describe("log lines", () => {
  it("are bounded, without payloads, and quiet about what is expected", () => {
    const logger = keepingLogger();
    const log = createLogAdapter(logger, new HandClock())();
    const entry = (message: string, level: logLevel, extra: object = {}) =>
      log({ namespace: "Consumer", level, label: "x", log: { timestamp: "now", message, ...extra } });
    for (let time = 0; time < 5; time += 1)
      entry("something odd", logLevel.ERROR, { payload: "secret", broker: "b:1" });
    entry("The group is rebalancing, re-joining", logLevel.WARN);
    entry("Connection error: connect ECONNREFUSED", logLevel.ERROR);
    entry("Starting", logLevel.INFO);
    expect(logger.lines).toHaveLength(1);
    expect(logger.lines[0]).toContain("something odd");
    expect(logger.lines[0]).not.toContain("secret");
  });

  it("count what they leave out", () => {
    const repeats = new Repeats();
    expect([repeats.note("a", 0), repeats.note("a", 0), repeats.note("b", 0)]).toEqual([0, undefined, 0]);
    expect([repeats.note("a", 60_000), repeats.note("a", 60_000)]).toEqual([1, undefined]);
    for (let key = 0; key < 500; key += 1) repeats.note(`key ${key}`, 60_000);
    expect(repeats.note("a", 60_000)).toBe(0);
  });

  it("of ten minutes in which client after client fails are one a minute, with the number of the others", () => {
    const logger = keepingLogger();
    const clock = new HandClock();
    for (let attempt = 0; attempt < 200; attempt += 1) {
      const log = createLogAdapter(logger, clock)();
      const message = "Failed to do something odd";
      log({ namespace: "Consumer", level: logLevel.ERROR, label: "x", log: { timestamp: "now", message } });
      clock.turn(3_000);
    }
    expect(logger.lines).toHaveLength(10);
    expect(logger.lines[1]).toContain('"repeated":19');
  });
});

describe("waiting", () => {
  it("backs off up to a limit, with jitter, and begins anew after reset", () => {
    const backoff = new Backoff(100, 1_000);
    for (const full of [100, 200, 400, 800, 1_000, 1_000]) {
      const wait = backoff.next();
      expect(wait).toBeGreaterThanOrEqual(full / 2);
      expect(wait).toBeLessThanOrEqual(full);
    }
    for (let attempt = 0; attempt < 2_000; attempt += 1) expect(backoff.next()).toBeLessThanOrEqual(1_000);
    backoff.reset();
    expect(backoff.next()).toBeLessThanOrEqual(100);
  });

  it("is cut short by a wake-up, and leaves no timer behind", async () => {
    const clock = new HandClock();
    const wakeUp = new WakeUp(clock);
    const waits = [wakeUp.wait(1_000), wakeUp.wait(50)];
    clock.turn(50);
    await waits[1];
    expect(clock.waiting).toBe(1);
    wakeUp.wake();
    await waits[0];
    expect(clock.waiting).toBe(0);
  });

  it("has deadlines", async () => {
    const never = new Promise<never>(() => undefined);
    await expect(withDeadline(systemClock, 10, "a question", never)).rejects.toMatchObject({ code: "timeout" });
    expect(await withDeadline(systemClock, 10_000, "a question", Promise.resolve(5))).toBe(5);
    await expect(withDeadline(systemClock, 10_000, "x", Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await settleWithin(systemClock, 10, never)).toBe(false);
    expect(await settleWithin(systemClock, 10_000, Promise.reject(new Error("no")))).toBe(true);
  });
});

describe("options", () => {
  const base = { clientId: "c", clock: systemClock, logger: keepingLogger(), topic: "t", group: "g" };

  it("have defaults, each of which can be replaced", () => {
    const resolved = resolveSource({ ...base, brokers: ["a.example:9092"], timings: { adminMs: 5 } });
    expect(resolved.limits).toEqual(FETCH_LIMITS);
    expect(resolved.timings).toEqual({ ...SOURCE_TIMINGS, adminMs: 5 });
  });

  it("are refused when kafkajs would misread them", () => {
    for (const brokers of [[], [""], ["host"], ["[::1]:9092"], ["::1:9092"], ["host:port"], ["a b:9092"]]) {
      expect(() => resolveSource({ ...base, brokers })).toThrow(RangeError);
    }
    const brokers = ["host:9092"];
    expect(() => resolveSource({ ...base, brokers, group: "" })).toThrow(RangeError);
    expect(() => resolveSource({ ...base, brokers, timings: { heartbeatMs: 4_000 } })).toThrow(/heartbeats/);
    expect(() => resolveSource({ ...base, brokers, timings: { fetchWaitMs: 1_001 } })).toThrow(/fetchWaitMs/);
    expect(() => resolveSource({ ...base, brokers, timings: { idleWaitMs: 1_001 } })).toThrow(/idleWaitMs/);
  });
});
