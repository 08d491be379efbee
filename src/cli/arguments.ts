import { parseArgs } from "node:util";
import { nearest } from "../config/nearest.ts";

/** What the command line asks for. */
export type Command =
  | { readonly command: "serve"; readonly config?: string }
  | { readonly command: "check"; readonly config?: string }
  | { readonly command: "print-config"; readonly config?: string }
  | {
      readonly command: "apply";
      readonly config?: string;
      readonly url: string;
      readonly tokenFile?: string;
      readonly dryRun: boolean;
    }
  | { readonly command: "hash-token"; readonly name: string; readonly role: string }
  | {
      readonly command: "kv repair";
      readonly owner: string;
      readonly reason: string;
      readonly acceptLoss: boolean;
      readonly url: string;
      readonly tokenFile?: string;
    }
  | { readonly command: "help" }
  | { readonly command: "version" };

/** A command line that asks for nothing that there is. */
export interface UsageFault {
  readonly usage: string;
}

const COMMANDS = ["serve", "check", "apply", "hash-token", "kv repair"] as const;
type CommandWord = (typeof COMMANDS)[number];

const FLAGS = {
  config: { type: "string", of: ["serve", "check", "apply"] },
  "print-config": { type: "boolean", of: ["serve"] },
  url: { type: "string", of: ["apply", "kv repair"] },
  "token-file": { type: "string", of: ["apply", "kv repair"] },
  "dry-run": { type: "boolean", of: ["apply"] },
  name: { type: "string", of: ["hash-token"] },
  role: { type: "string", of: ["hash-token"] },
  owner: { type: "string", of: ["kv repair"] },
  reason: { type: "string", of: ["kv repair"] },
  "accept-loss": { type: "boolean", of: ["kv repair"] },
  help: { type: "boolean", of: COMMANDS },
  version: { type: "boolean", of: COMMANDS },
} as const satisfies Record<string, { type: "string" | "boolean"; of: readonly CommandWord[] }>;

type FlagName = keyof typeof FLAGS;
type Flags = ReadonlyMap<string, string | true>;

/** Reads the arguments behind the program's name. Unknown commands and flags are refused, with the nearest known one. */
export function readArguments(argv: readonly string[]): Command | UsageFault {
  const { tokens } = parseArgs({
    args: [...argv],
    options: FLAGS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const words: string[] = [];
  const flags = new Map<string, string | true>();
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const fault = flagFault(token, flags);
    if (fault !== undefined) return { usage: fault };
    flags.set(token.name, token.value ?? true);
  }
  return toCommand(words, flags);
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function flagFault({ name, rawName, value, inlineValue }: OptionToken, seen: Flags): string | undefined {
  if (!isFlag(name))
    return unknown(
      "flag",
      rawName,
      Object.keys(FLAGS).map((known) => `--${known}`),
    );
  if (seen.has(name)) return `${rawName} is given twice`;
  const wantsValue = FLAGS[name].type === "string";
  if (!wantsValue && value !== undefined) return `${rawName} takes no value`;
  const missing = value === undefined || value === "" || (inlineValue !== true && value.startsWith("-"));
  return wantsValue && missing ? `${rawName} needs a value` : undefined;
}

function isFlag(name: string): name is FlagName {
  return Object.hasOwn(FLAGS, name);
}

function unknown(what: string, word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return `unknown ${what} ${JSON.stringify(word)}; ${near === undefined ? `known: ${known.join(", ")}` : `did you mean ${near}?`}`;
}

function toCommand(words: readonly string[], flags: Flags): Command | UsageFault {
  const [first = "serve", ...behind] = words;
  // The one command of two words.
  const word = first === "kv" && behind[0] !== undefined ? `kv ${behind[0]}` : first;
  const others = word === first ? behind : behind.slice(1);
  const command = COMMANDS.find((known) => known === word);
  if (command === undefined) return { usage: unknown("command", word, COMMANDS) };
  if (others[0] !== undefined) return { usage: `unexpected ${JSON.stringify(others[0])} after ${command}` };
  const foreign = [...flags.keys()].find((flag) => isFlag(flag) && !FLAGS[flag].of.some((of) => of === command));
  if (foreign !== undefined) return { usage: `${command} has no flag --${foreign}` };
  if (flags.has("help")) return { command: "help" };
  if (flags.has("version")) return { command: "version" };
  return withFlags(command, flags);
}

function withFlags(command: CommandWord, flags: Flags): Command | UsageFault {
  const value = (name: FlagName) => {
    const given = flags.get(name);
    return typeof given === "string" ? given : undefined;
  };
  const config = value("config");
  const common = config === undefined ? {} : { config };
  if (command === "serve") return { command: flags.has("print-config") ? "print-config" : "serve", ...common };
  if (command === "check") return { command, ...common };
  if (command === "hash-token") {
    const name = value("name");
    const role = value("role");
    return name === undefined || role === undefined
      ? { usage: "hash-token needs --name and --role" }
      : { command, name, role };
  }
  const url = value("url");
  const tokenFile = value("token-file");
  if (url === undefined) return { usage: `${command} needs --url` };
  const address = { url, ...(tokenFile === undefined ? {} : { tokenFile }) };
  if (command === "apply") return { command, ...common, ...address, dryRun: flags.has("dry-run") };
  const owner = value("owner");
  const reason = value("reason");
  if (owner === undefined || reason === undefined) return { usage: "kv repair needs --owner and --reason" };
  return { command, ...address, owner, reason, acceptLoss: flags.has("accept-loss") };
}
