import { InvalidConfig, loadConfig, type LoadedConfig } from "../config/index.ts";
import { StreamsError } from "../errors.ts";
import { apply } from "./apply.ts";
import { readArguments, type Command } from "./arguments.ts";
import { check } from "./check.ts";
import { hashTokenLine } from "./hash-token.ts";
import { HELP } from "./help.ts";
import type { CliInputs } from "./inputs.ts";
import { repairOwner } from "./kv-repair.ts";
import { configText } from "./print-config.ts";

/** Exit codes of the program. */
export const EXIT = { done: 0, fault: 1, usage: 2 } as const;

/**
 * Runs what the command line asks for and returns the exit code. Expected faults become text on standard error;
 * anything else is thrown.
 */
export async function runCli(inputs: CliInputs): Promise<number> {
  const command = readArguments(inputs.argv);
  if ("usage" in command) {
    inputs.err(`ysearch-streams: ${command.usage}\nysearch-streams --help lists what there is.\n`);
    return EXIT.usage;
  }
  try {
    return await run(command, inputs);
  } catch (error) {
    if (!(error instanceof StreamsError)) throw error;
    inputs.err(`${error.message}\n`);
    return EXIT.fault;
  }
}

async function run(command: Command, inputs: CliInputs): Promise<number> {
  if (command.command === "serve") return inputs.serve(load(command.config, inputs));
  if (command.command === "apply") {
    return (await apply(command, load(command.config, inputs).config, inputs)) ? EXIT.done : EXIT.fault;
  }
  if (command.command === "kv repair") return (await repairOwner(command, inputs)) ? EXIT.done : EXIT.fault;
  inputs.out(await textOf(command, inputs));
  return EXIT.done;
}

type TextCommand = Exclude<Command, { readonly command: "serve" | "apply" | "kv repair" }>;

async function textOf(command: TextCommand, inputs: CliInputs): Promise<string> {
  if (command.command === "help") return HELP;
  if (command.command === "version") return `${inputs.version}\n`;
  if (command.command === "check") return checked(command.config, inputs);
  if (command.command === "print-config") return configText(load(command.config, inputs));
  return hashTokenLine(command.name, command.role, await inputs.readToken());
}

/** @throws StreamsError CONFIG_INVALID with every fault, what keeps a source from running included: the schema cannot see it */
async function checked(config: string | undefined, inputs: CliInputs): Promise<string> {
  let loaded: LoadedConfig;
  try {
    loaded = load(config, inputs);
  } catch (error) {
    if (!(error instanceof InvalidConfig)) throw error;
    // One run tells everything, also what keeps the sources without a fault in the file from running.
    const lines = [error.message, ...(await inputs.sourceFaults(error.sources))];
    throw new StreamsError("CONFIG_INVALID", lines.join("\n"), {}, { cause: error });
  }
  const faults = await inputs.sourceFaults(loaded.config.sources);
  if (faults.length > 0) throw new StreamsError("CONFIG_INVALID", faults.join("\n"));
  return check(loaded, inputs.readFile);
}

function load(config: string | undefined, inputs: CliInputs): LoadedConfig {
  const { env, cwd, readFile } = inputs;
  const named = config === undefined ? env : { ...env, STREAMS_CONFIG: config };
  const loaded = loadConfig({ env: named, cwd, readFile });
  for (const warning of loaded.warnings) inputs.err(`warning: ${warning}\n`);
  return loaded;
}
