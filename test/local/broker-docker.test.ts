import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { startRedpanda } from "../../local/broker/docker.ts";
import { useBroker } from "../support/broker.ts";

const FAKE = fileURLToPath(new URL("support/fake-docker.mjs", import.meta.url));

// Goal: the calls that we make of Docker, in their order, where no engine is at hand. The fake "publishes" the run's
// shared broker, so readiness is real; that Redpanda itself starts with these arguments is not shown here.

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "ysearch-docker-"));
  await writeFile(join(folder, "docker"), `#!/bin/sh\nexec "${process.execPath}" "${FAKE}" "$@"\n`);
  await chmod(join(folder, "docker"), 0o755);
  vi.stubEnv("PATH", `${folder}${delimiter}${process.env["PATH"] ?? ""}`);
  vi.stubEnv("FAKE_DOCKER", folder);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

function sharedPort(): number {
  return Number(useBroker()[0]?.split(":").at(-1));
}

/** The calls made so far, without the image and the random name; those that only ask are left out. */
async function calls(): Promise<readonly string[]> {
  const lines = (await readFile(join(folder, "calls"), "utf8")).trim().split("\n");
  return lines
    .filter((line) => !line.startsWith("inspect"))
    .map((line) => line.replaceAll(/ysearch-broker-\w+/g, "NAME").replaceAll(/redpandadata\/\S+/g, "IMAGE"));
}

test.skipIf(useBroker()[0]?.startsWith("127.0.0.1:") !== true)(
  "Redpanda is pulled once, published on loopback alone, killed, restarted and removed",
  async () => {
    const port = sharedPort();
    const broker = await startRedpanda({ port });
    expect(broker).toMatchObject({ way: "docker", pid: undefined, brokers: [`127.0.0.1:${port}`] });
    const [inspect, pull, run] = await calls();
    expect([inspect, pull]).toEqual(["image inspect IMAGE", "pull --quiet IMAGE"]);
    expect(run).toContain(`run --detach --name NAME --publish 127.0.0.1:${port}:${port} IMAGE redpanda start`);
    expect(run).toContain(`--advertise-kafka-addr PLAINTEXT://127.0.0.1:${port}`);
    await broker.kill();
    await broker.restart();
    await broker.stop();
    await broker.stop();
    expect((await calls()).slice(3)).toEqual([
      "kill --signal KILL NAME",
      "wait NAME",
      "stop -t 10 NAME",
      "start NAME",
      "rm --force --volumes NAME",
    ]);
  },
);

test("a container that ends at once is an error with its log, and is removed", async () => {
  await writeFile(join(folder, "broken"), "");
  await expect(startRedpanda({})).rejects.toThrow(/container is exited[^]*not enough memory/);
  expect((await calls()).at(-1)).toBe("rm --force --volumes NAME");
  await expect(stat(join(folder, "state"))).rejects.toThrow(/ENOENT/);
});
