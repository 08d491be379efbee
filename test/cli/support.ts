import { runCli, type CliInputs } from "../../src/cli/index.ts";

/** What a run of the program left behind. */
export interface CliRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Configurations that `serve` was started with. */
  readonly served: readonly unknown[];
  /** Sources that were held against the build. */
  readonly checked: readonly string[];
}

/** Runs the program with these arguments in /srv/app, with these files and variables. */
export async function cli(
  argv: readonly string[],
  given: {
    files?: Readonly<Record<string, string>>;
    env?: Readonly<Record<string, string>>;
    input?: string;
    faults?: readonly string[];
  } = {},
): Promise<CliRun> {
  const { files = {}, env = {}, input = "" } = given;
  const written = { out: "", err: "" };
  const served: unknown[] = [];
  const checked: string[] = [];
  const inputs: CliInputs = {
    argv,
    env,
    cwd: "/srv/app",
    version: "1.2.3",
    readFile: (path) => {
      const content = files[path];
      if (content === undefined) throw Object.assign(new Error("no such file"), { code: "ENOENT" });
      return new TextEncoder().encode(content);
    },
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
    pause: () => Promise.resolve(),
    readToken: () => Promise.resolve(input),
    sourceFaults: (sources) => {
      checked.push(...sources.map(({ name }) => name));
      return Promise.resolve(given.faults ?? []);
    },
    serve: (loaded) => {
      served.push(loaded.config);
      return Promise.resolve(7);
    },
  };
  return { code: await runCli(inputs), ...written, served, checked };
}
