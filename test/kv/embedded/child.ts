import { writeSync } from "node:fs";
import { bundledOwner, spawnFrom } from "./bundled.ts";
import { siteAt, text } from "./support.ts";
import { Tamper } from "./tamper.ts";

/**
 * A process that uses a plane until it is killed. Arguments: what to do, the folder of the site, the bundled owner, and
 * for `form` at which identity message to kill itself. Reports on stdout, one line each.
 */
const [task, root, worker, nth] = process.argv.slice(2);

function report(line: string): void {
  writeSync(1, `${line}\n`);
}

/** Writes twenty keys at a time, all at the same order, and reports each order once it is acknowledged. */
async function writeOn(tamper: Tamper): Promise<void> {
  const plane = await siteAt(root ?? "").open({ spawn: tamper.spawn });
  for (let order = 1; ; order += 1) {
    const cells = Array.from({ length: 20 }, (_, index) => ({
      space: "slot" as const,
      key: text(`key-${index}`),
      order,
      bytes: text(`value ${order}`),
    }));
    await plane.write(cells);
    const record = await plane.control.read("order");
    await plane.control.compareAndSet("order", record?.tag, text(`${order}`));
    report(`${order}`);
  }
}

async function main(): Promise<void> {
  const tamper = new Tamper(spawnFrom(worker === undefined ? await bundledOwner() : new URL(worker)));
  if (task === "write") await writeOn(tamper);
  if (task === "form") {
    let seen = 0;
    tamper.onSend = (_, message) => {
      if (message.kind !== "identify") return;
      seen += 1;
      if (seen === Number(nth)) process.kill(process.pid, "SIGKILL");
    };
  }
  await siteAt(root ?? "").open({ spawn: tamper.spawn });
  report("open");
}

await main();
