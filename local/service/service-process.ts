import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { request } from "undici";
import { freePorts } from "../broker/ports.ts";
import { type SupervisedProcess, startSupervised } from "../process/supervised.ts";

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const START_MS = 60_000;
const TURN_MS = 50;

/** How to run the built service on this machine. */
export interface ServiceOptions {
  /** Folder of its own: configuration, log and, unless `config.kv` says otherwise, data. */
  readonly folder: string;
  /** `streams.yaml` as an object; http and kv are filled in. */
  readonly config: { readonly [key: string]: unknown };
  /** Node to run it with; this process' own by default. */
  readonly node?: string;
}

/** The service as a process that can be killed and started again on the same data. */
export class ServiceProcess {
  readonly url: string;
  readonly #options: ServiceOptions;
  readonly #logFile: string;
  readonly #configFile: string;
  #process: SupervisedProcess | undefined;

  private constructor(url: string, options: ServiceOptions) {
    this.url = url;
    this.#options = options;
    this.#logFile = join(options.folder, "service.log");
    this.#configFile = join(options.folder, "streams.yaml");
  }

  /** Writes the configuration and starts the service; resolves when its API can be served. @throws Error with its last lines */
  static async start(options: ServiceOptions): Promise<ServiceProcess> {
    await mkdir(options.folder, { recursive: true });
    const [port] = await freePorts(1);
    const service = new ServiceProcess(`http://127.0.0.1:${port}`, options);
    const config = {
      http: { host: "127.0.0.1", port },
      kv: { engine: "embedded", directories: ["a", "b", "c"].map((owner) => join(options.folder, "data", owner)) },
      ...options.config,
    };
    await writeFile(service.#configFile, stringify(config));
    await service.restart();
    return service;
  }

  /** Pid of the service, undefined while it does not run. */
  get pid(): number | undefined {
    return this.#process?.hasExited() === false ? this.#process.pid : undefined;
  }

  /** Starts it anew on its data, after `kill` or `stop`. @throws Error with its last lines when it does not get ready */
  async restart(): Promise<void> {
    this.#process = await startSupervised({
      command: this.#options.node ?? process.execPath,
      args: ["--enable-source-maps", MAIN, "--config", this.#configFile],
      logFile: this.#logFile,
      removeWhenOrphaned: undefined,
    });
    await this.#untilReady(this.#process);
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** SIGTERM; returns the exit code. */
  async stop(deadlineMs = 40_000): Promise<number> {
    if (this.#process === undefined) return 0;
    await this.#process.stop(deadlineMs);
    return this.#process.exited;
  }

  /** The log's last lines. */
  async lastLines(count = 20): Promise<string> {
    const text = await readFile(this.#logFile, "utf8").catch(() => "");
    return text.trimEnd().split("\n").slice(-count).join("\n");
  }

  /** A GET of the API: status and parsed body. */
  async get(path: string): Promise<{ readonly status: number; readonly body: unknown }> {
    const response = await request(`${this.url}${path}`);
    const text = await response.body.text();
    return { status: response.statusCode, body: text === "" ? undefined : JSON.parse(text) };
  }

  async #untilReady(child: SupervisedProcess): Promise<void> {
    const deadline = Date.now() + START_MS;
    while (!child.hasExited() && Date.now() < deadline) {
      const answer = await this.get("/readyz").catch(() => undefined);
      if (answer?.status === 200) return;
      await delay(TURN_MS);
    }
    const what = child.hasExited() ? "ended" : `is not ready after ${START_MS / 1_000} s`;
    const lines = await this.lastLines();
    await child.kill();
    throw new Error(`the service ${what}; its last lines:\n${lines}`);
  }
}
