import { describe, expect, it } from "vitest";
import { AuditLog } from "../../src/audit/audit-log.ts";
import type { SourceDefinition } from "../../src/core/source.ts";
import { StreamsError } from "../../src/errors.ts";
import { DefinitionService } from "../../src/operators/definition-service.ts";
import { RepairService } from "../../src/operators/repair-service.ts";
import { definition } from "../support/fleet-world.ts";
import { silent } from "../support/silent.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { MemoryPlane } from "../support/memory-plane.ts";

function world() {
  const clock = new ManualClock();
  const plane = new MemoryPlane();
  const audit = new AuditLog(plane.control, clock, silent);
  const entries = async () => (await audit.list({})).entries;
  return { clock, plane, audit, entries };
}

const present: SourceDefinition = { ...definition, allowShortRetention: false };

function definitions(audit: AuditLog) {
  const view = { definition: present, revision: 1, etag: "1" };
  const sources = {
    definition: () => view,
    define: (_name: string, _definition: SourceDefinition, ifMatch: string) =>
      ifMatch === "1" ? Promise.resolve(view) : Promise.reject(new StreamsError("PRECONDITION_FAILED", "it changed")),
    create: () => Promise.resolve(view),
  };
  return new DefinitionService(sources, audit);
}

describe("a change of a definition", () => {
  it("is entered with who and what changes, a refusal with its code", async () => {
    const { audit, entries } = world();
    const service = definitions(audit);
    await service.define("articles", { ...present, onPoison: "stop" }, "1", "chief");
    await expect(service.define("articles", present, "0", "anonymous")).rejects.toMatchObject({
      code: "PRECONDITION_FAILED",
    });
    expect(await entries()).toMatchObject([
      { actor: "anonymous", action: "change-definition", outcome: "refused", code: "PRECONDITION_FAILED" },
      { actor: "chief", source: "articles", detail: "changes onPoison", outcome: "applied" },
    ]);
  });

  it("so is a new source", async () => {
    const { audit, entries } = world();
    await definitions(audit).create(present, "chief");
    expect(await entries()).toMatchObject([
      { actor: "chief", action: "create-source", source: "articles", outcome: "applied" },
    ]);
  });

  it("is not made when it cannot be entered", async () => {
    const { audit, plane, entries } = world();
    plane.away = true;
    await expect(definitions(audit).create(present, "chief")).rejects.toMatchObject({ code: "KV_NO_QUORUM" });
    plane.away = false;
    expect(await entries()).toEqual([]);
  });
});

describe("a repair of an owner", () => {
  const ORDER = { actor: "chief", reason: "new disk", acceptLoss: true };

  it("is entered before it begins", async () => {
    const { clock, plane, audit, entries } = world();
    const seen: unknown[] = [];
    const repair = async () => void seen.push(...(await entries()));
    const service = new RepairService({ plane: { repair }, audit, clock, logger: silent });
    await service.repair("b", ORDER);
    await clock.advance(0);
    expect(seen).toMatchObject([{ outcome: "started" }]);
    expect(await entries()).toMatchObject([
      {
        actor: "chief",
        action: "repair-owner",
        reason: "new disk",
        detail: "owner b, loss accepted",
        outcome: "applied",
      },
    ]);
    expect(plane.records.size).toBeGreaterThan(0);
  });

  it("is carried out without a quorum, and entered with its time when there is one again", async () => {
    const { clock, plane, audit, entries } = world();
    const calls: string[] = [];
    const repair = async (owner: string) => {
      calls.push(owner);
      if (owner === "z") throw new StreamsError("KV_OWNER_UNKNOWN", "there is no owner z");
    };
    const service = new RepairService({ plane: { repair }, audit, clock, logger: silent });
    plane.away = true;
    const at = clock.now();
    await service.repair("b", ORDER);
    await expect(service.repair("z", ORDER)).rejects.toMatchObject({ code: "KV_OWNER_UNKNOWN" });
    await clock.advance(60_000);
    expect(calls).toEqual(["b", "z"]);
    plane.away = false;
    await clock.advance(60_000);
    expect(await entries()).toMatchObject([
      { at, detail: "owner z, loss accepted", outcome: "refused", code: "KV_OWNER_UNKNOWN" },
      { at, detail: "owner b, loss accepted", outcome: "applied" },
    ]);
  });
});
