import { afterEach, expect, it } from "vitest";
import { type Fault, runOwners } from "../kv/embedded/owners-run.ts";
import { NAMES, type Name, endScenes } from "../kv/embedded/scene.ts";
import { noDisks } from "../kv/embedded/small-disks.ts";
import { writeSoakResult } from "../support/soak-result.ts";

const WRITES = 500_000;
const FAULTS: readonly Fault[] = ["full", "wiped", "corrupted", "frozen", "killed"];

afterEach(endScenes);

it("500,000 writes while each owner in turn fills up, is wiped, corrupted, frozen and killed: nothing is lost", async () => {
  const faults = FAULTS.filter((fault) => fault !== "full" || noDisks === undefined).flatMap((fault) =>
    NAMES.map((name): readonly [Name, Fault] => [name, fault]),
  );
  if (noDisks !== undefined) process.stderr.write(`without full disks: ${noDisks}\n`);
  const figures = await runOwners({ writes: WRITES, keys: 50_000, writers: 48, faults });
  expect(figures.mainRssAnonMiBMax).toBeLessThan(512);
  expect(figures.ownerRssAnonMiBMax).toBeLessThan(256);
  writeSoakResult("owners", { ...figures });
});
