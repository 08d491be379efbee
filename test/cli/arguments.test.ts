import { expect, test } from "vitest";
import { readArguments } from "../../src/cli/arguments.ts";
import { cli } from "./support.ts";

test.each<[string, object]>([
  ["", { command: "serve" }],
  ["serve", { command: "serve" }],
  ["--config a.yaml", { command: "serve", config: "a.yaml" }],
  ["serve --config=a.yaml", { command: "serve", config: "a.yaml" }],
  ["check --config a.yaml", { command: "check", config: "a.yaml" }],
  ["--print-config", { command: "print-config" }],
  ["apply --url http://h", { command: "apply", url: "http://h", dryRun: false }],
  [
    "apply --url http://h --token-file t --dry-run --config c",
    { command: "apply", url: "http://h", tokenFile: "t", dryRun: true, config: "c" },
  ],
  ["hash-token --name ops --role viewer", { command: "hash-token", name: "ops", role: "viewer" }],
  ["--help", { command: "help" }],
  ["check --help", { command: "help" }],
  ["--version", { command: "version" }],
])("%s", (line, command) => {
  expect(readArguments(line.split(" ").filter(Boolean))).toEqual(command);
});

test.each<[string, RegExp]>([
  ["serv", /unknown command "serv"; did you mean serve\?/],
  ["chekc", /did you mean check\?/],
  ["hashtoken", /did you mean hash-token\?/],
  ["migrate", /known: serve, check, apply, hash-token/],
  ["check extra", /unexpected "extra" after check/],
  ["check --confg a", /unknown flag "--confg"; did you mean --config\?/],
  ["-c a", /unknown flag "-c"/],
  ["--verbose", /unknown flag "--verbose"/],
  ["--print-confg", /did you mean --print-config\?/],
  ["check --config", /--config needs a value/],
  ["check --config=", /--config needs a value/],
  ["check --config --help", /--config needs a value/],
  ["check --config a --config b", /given twice/],
  ["--print-config=yes", /takes no value/],
  ["check --print-config", /check has no flag --print-config/],
  ["serve --url http://h", /serve has no flag --url/],
  ["apply", /apply needs --url/],
  ["hash-token --name a", /needs --name and --role/],
  ["--constructor", /unknown flag/],
  ["--no-config", /unknown flag|takes no value|needs a value/],
])("%s is refused", async (line, text) => {
  const { code, out, err, served } = await cli(line.split(" "));
  expect(err).toMatch(text);
  expect({ code, out, served }).toEqual({ code: 2, out: "", served: [] });
});
