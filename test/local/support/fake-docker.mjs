// Stands in for the docker client and its engine: keeps a container's state in files of the folder FAKE_DOCKER and
// appends every call to `calls` there. What it "runs" is the broker that already listens at the published port.

import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.env.FAKE_DOCKER ?? "";
const args = process.argv.slice(2);
const file = (name) => join(folder, name);
const state = existsSync(file("state")) ? readFileSync(file("state"), "utf8") : "none";
const become = (next) => writeFileSync(file("state"), next);

appendFileSync(file("calls"), `${args.join(" ")}\n`);
const [command] = args;
if (command === "version") process.stdout.write("28.0.0\n");
else if (command === "image") process.exitCode = existsSync(file("image")) ? 0 : 1;
else if (command === "pull") writeFileSync(file("image"), "");
else if (command === "run" || command === "start") become(existsSync(file("broken")) ? "exited" : "running");
else if (command === "kill" || command === "stop") become("exited");
else if (command === "wait") process.exitCode = state === "exited" ? 0 : 1;
else if (command === "inspect") process.stdout.write(`${state}\n`);
else if (command === "logs") process.stderr.write("ERROR: not enough memory\n");
else if (command === "rm") rmSync(file("state"), { force: true });
else process.exitCode = 125;
