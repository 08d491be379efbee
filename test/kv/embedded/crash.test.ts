import { afterEach, describe, expect, it } from "vitest";
import { killChildren, startChild } from "./processes.ts";
import { type Site, makeSite, text } from "./support.ts";

const sites: Site[] = [];
afterEach(async () => {
  killChildren();
  await Promise.all(sites.splice(0).map((site) => site.destroy()));
});

function newSite(): Site {
  const site = makeSite();
  sites.push(site);
  return site;
}

describe("SIGKILL", () => {
  it("loses nothing that was acknowledged, at two owners at least", async () => {
    const site = newSite();
    let last = 0;
    for (const acks of [40, 25]) {
      const child = await startChild("write", site.root);
      await child.reported(acks);
      await child.kill();
      last = Math.max(last, ...child.lines.map(Number));
      const plane = await site.open();
      for (let index = 0; index < 20; index += 1) {
        const answers = await plane.inspect({ space: "slot", key: text(`key-${index}`) });
        const whole = answers.filter(({ cell }) => (cell?.order ?? 0) >= last);
        expect(whole.length).toBeGreaterThanOrEqual(2);
        for (const { cell } of whole) expect(cell?.bytes).toEqual(text(`value ${cell?.order}`));
      }
      const record = await plane.control.read("order");
      expect(Number(new TextDecoder().decode(record?.value))).toBeGreaterThanOrEqual(Number(child.lines.at(-1)));
      await plane.close();
    }
  });
});

describe("a first start that is cut short", () => {
  // Identity messages 1 to 3 say `forming`, 4 to 6 say `formed`; the child dies before the nth is sent.
  for (const nth of [1, 2, 3, 4, 5, 6]) {
    it(`is finished by the next one when it died before identity message ${nth}`, async () => {
      const site = newSite();
      const child = await startChild("form", site.root, nth);
      expect(await child.ended()).toBe("SIGKILL");
      const plane = await site.open();
      expect(plane.owners().map(({ state }) => state)).toEqual(["up", "up", "up"]);
      await plane.write([{ space: "dial", key: text("k"), order: 1, bytes: text("x") }]);
      await plane.close();
      const again = await site.open();
      expect(again.owners().map(({ state }) => state)).toEqual(["up", "up", "up"]);
      expect(await again.restore([{ space: "dial", key: text("k") }])).toEqual([{ order: 1, bytes: text("x") }]);
    });
  }
});

describe("exclusive use", () => {
  it("refuses a second plane, naming directory and process, until the first one dies", async () => {
    const site = newSite();
    const child = await startChild("hold", site.root);
    await child.reported(1);
    const refused = {
      code: "KV_ENGINE",
      message: `the directory ${site.directories[0]} is in use by process ${child.pid}: end that process`,
    };
    await expect(site.open()).rejects.toMatchObject(refused);
    await child.kill();
    const plane = await site.open();
    expect(plane.owners().map(({ state }) => state)).toEqual(["up", "up", "up"]);
  });
});
