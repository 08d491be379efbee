import { spawnOwnerProcess } from "../../../src/kv/embedded/owner-process.ts";
import { describePlaneContract } from "../contract.ts";
import { MIB, makeSite } from "./support.ts";

for (const writeAcks of [2, 3] as const) {
  describePlaneContract({
    name: `embedded, W = ${writeAcks}`,
    bodyBytesMax: 8 * MIB,
    manyCells: 20_000,
    async open() {
      const site = makeSite();
      let plane = await site.open({ writeAcks, spawn: spawnOwnerProcess });
      return {
        plane,
        async reopen() {
          await plane.close();
          plane = await site.open({ writeAcks, spawn: spawnOwnerProcess });
          return plane;
        },
        destroy: () => site.destroy(),
      };
    },
  });
}
