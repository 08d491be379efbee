import { describe, expect, it } from "vitest";
import { decodeDocumentCell } from "../../src/core/cell.ts";
import { documentKey } from "../../src/core/keys.ts";
import { expectContract, expectProblem } from "../routes/support/contract.ts";
import { Deployment, Instance, protobufSeed } from "./world.ts";

const proto3 = (body: string) => `syntax = "proto3"; package t; ${body}`;
const V1 = proto3("message M { string id = 1; string foo = 2; }");
const V2 = proto3("message M { string id = 1; string foobar = 2; string late = 9; }");
const DESCRIPTOR = "/v1/sources/{source}/descriptor";
const LEDGER = "/v1/sources/{source}/ledger";
const UNKNOWN = "/v1/sources/{source}/unknown-fields";

/** Fields 1, 2 and 9, all strings. */
const record = (id: string, foo: string) => `\n${String.fromCharCode(id.length)}${id}\u0012\u0001${foo}J\u0001x`;

/** Instances that run `articles` by version 1 of `s`, which has a version 2; the first one serves the API. */
async function running(instances = 1): Promise<{ deployment: Deployment; all: Instance[]; first: Instance }> {
  const deployment = new Deployment();
  const registrar = await new Instance(deployment).serve();
  await registrar.register("s", V1);
  const all = Array.from({ length: instances }, () => new Instance(deployment, [protobufSeed("s", "t.M")]));
  for (const instance of all) {
    await instance.fleet.start();
    for (const source of instance.sources) source.rejoin();
  }
  await registrar.register("s", V2);
  const first = await (all[0] ?? registrar).serve();
  await first.run();
  return { deployment, all, first };
}

async function put(instance: Instance, payload: object, ifMatch?: string) {
  const headers = { "if-match": ifMatch ?? (await instance.tag("articles")) };
  const answer = await instance.call("PUT", "/v1/sources/articles/descriptor", { payload, headers });
  await instance.run();
  return answer;
}

async function feed(instance: Instance, id: string): Promise<void> {
  instance.deployment.log.append(0, id, record(id, "1"));
  await instance.run();
}

async function bodyOf({ plane }: Deployment, id: string): Promise<unknown> {
  const [cell] = await plane.restore([{ space: "document", key: documentKey("articles", id) }]);
  return cell === undefined ? "none" : JSON.parse(Buffer.from(decodeDocumentCell(cell.bytes).body).toString());
}

describe("activating a version", () => {
  it("decodes what is not applied yet by it, without leaving the group; going back is a revision of its own", async () => {
    const { deployment, first } = await running();
    await feed(first, "a");
    const activated = await put(first, { version: 2, reason: "producers send it" });
    expect(activated.statusCode, activated.body).toBe(200);
    expect(activated.json()).toMatchObject({ revision: 2, definition: { descriptor: { version: 2, message: "t.M" } } });
    expect(activated.headers["etag"]).toBe(await first.tag("articles"));
    if (first.app !== undefined) expectContract(first.app, "PUT", DESCRIPTOR, activated);
    await feed(first, "b");
    expect((await put(first, { version: 1 })).json()).toMatchObject({ revision: 3 });
    await feed(first, "c");
    expect(first.sources).toHaveLength(1);
    const bodies = await Promise.all(["a", "b", "c"].map((id) => bodyOf(deployment, id)));
    expect(bodies).toEqual([
      { id: "a", foo: "1" },
      { id: "b", foobar: "1", late: "x" },
      { id: "c", foo: "1" },
    ]);
    expect(deployment.log.committed.get(0)).toBe(3);
    const ledger = await first.call("GET", "/v1/sources/articles/ledger?partition=0");
    if (first.app !== undefined) expectContract(first.app, "GET", LEDGER, ledger);
    expect(ledger.json<{ rows: readonly object[] }>().rows).toMatchObject([
      { partition: 0, number: 1, from: "0", until: "1", revision: 1, descriptor: { subject: "s", version: 1 } },
      { partition: 0, number: 2, from: "1", until: "2", revision: 2, descriptor: { subject: "s", version: 2 } },
      { partition: 0, number: 3, from: "2", revision: 3, descriptor: { subject: "s", version: 1 } },
    ]);
    const unknown = await first.call("GET", "/v1/sources/articles/unknown-fields");
    if (first.app !== undefined) expectContract(first.app, "GET", UNKNOWN, unknown);
    expect(unknown.json<{ revisions: readonly object[] }>().revisions).toMatchObject([
      { revision: 1, descriptorVersion: 1, fields: [{ path: "9", count: 1 }] },
      { revision: 2, descriptorVersion: 2, fields: [] },
      { revision: 3, descriptorVersion: 1, fields: [{ path: "9", count: 1 }] },
    ]);
  });

  it("keeps no more in memory the more often it is done", async () => {
    const { deployment, first } = await running();
    for (let change = 0; change < 16; change += 1) {
      await put(first, { version: 2 - (change % 2) });
      await feed(first, `d${change}`);
    }
    expect(first.fleet.inForce("articles").revision).toBe(17);
    const { verdicts } = first.fleet.service("articles").parts;
    expect(verdicts.loaded().map(({ revision }) => revision)).toEqual([9, 10, 11, 12, 13, 14, 15, 16, 17]);
    expect(await bodyOf(deployment, "d15")).toEqual({ id: "d15", foo: "1" });
  });

  it("reaches the other instances without a restart", async () => {
    const { all, first } = await running(2);
    await put(first, { version: 2 });
    expect(all.map(({ fleet }) => fleet.inForce("articles").revision)).toEqual([2, 2]);
    expect(all.map(({ fleet }) => fleet.service("articles").parts.inForce.revision)).toEqual([2, 2]);
    expect(all.map(({ sources }) => sources.length)).toEqual([1, 1]);
  });

  it("is refused where it does not fit, and changes nothing", async () => {
    const { first } = await running();
    const tag = await first.tag("articles");
    expectProblem(await put(first, { version: 3 }), "DESCRIPTOR_UNKNOWN");
    expectProblem(await put(first, { version: 2, message: "t.N" }), "DESCRIPTOR_INVALID");
    expectProblem(await put(first, { version: 2, mapping: { id: [7] } }), "MAPPING_INVALID");
    expectProblem(await put(first, { version: 2 }, '"other"'), "PRECONDITION_FAILED");
    const without = await first.call("PUT", "/v1/sources/articles/descriptor", { payload: { version: 2 } });
    expectProblem(without, "PRECONDITION_REQUIRED");
    const nowhere = await first.call("PUT", "/v1/sources/nope/descriptor", {
      payload: { version: 2 },
      headers: { "if-match": tag },
    });
    expectProblem(nowhere, "SOURCE_UNKNOWN");
    expect(await first.tag("articles")).toBe(tag);
  });

  it("an in-flight batch that is held is read again under the new version", async () => {
    const { deployment, first } = await running();
    deployment.plane.closeGate();
    await feed(first, "a");
    expect(await bodyOf(deployment, "a")).toBe("none");
    await put(first, { version: 2 });
    deployment.plane.openGate();
    await first.run();
    expect(await bodyOf(deployment, "a")).toEqual({ id: "a", foobar: "1", late: "x" });
    expect(deployment.log.committed.get(0)).toBe(1);
  });
});

describe("removing a version", () => {
  const remove = (instance: Instance, version: number) =>
    instance.call("DELETE", `/v1/descriptors/s/versions/${version}?reason=unused`);

  it("is refused while a source decodes by it, or the log holds what it decodes; its number stays taken", async () => {
    const { deployment, first } = await running();
    await feed(first, "a");
    const inForce = await remove(first, 1);
    expectProblem(inForce, "DESCRIPTOR_IN_USE");
    expect(inForce.json<{ detail: string }>().detail).toContain("source articles, in force, revision 1");
    await put(first, { version: 2 });
    await feed(first, "b");
    deployment.log.append(1, "z", record("z", "1"));
    await first.run();
    const held = await remove(first, 1);
    expectProblem(held, "DESCRIPTOR_IN_USE");
    expect(held.json<{ detail: string }>().detail).toContain("ledger articles/0, row 1: offsets 0 to 1, revision 1");
    deployment.log.deleteBelow(0, 1);
    await first.run();
    const removed = await remove(first, 1);
    expect(removed.statusCode, removed.body).toBe(200);
    expect(removed.json()).toMatchObject({ version: 1, removed: { actor: "anonymous", reason: "unused" } });
    expect((await first.call("GET", "/v1/descriptors/s/versions/1")).json()).toMatchObject({ files: {} });
    expectProblem(await put(first, { version: 1 }), "DESCRIPTOR_UNKNOWN");
    expect((await remove(first, 1)).statusCode).toBe(200);
    expect((await first.register("s", V1)).statusCode).toBe(409);
    const next = proto3("message M { string id = 1; string foo = 2; string late = 9; }");
    expect((await first.register("s", next)).json()).toMatchObject({ version: 3 });
  });

  it("loses against an activation that has stored its revision, and wins against one that has not", async () => {
    for (const stored of [true, false]) {
      const { deployment, first } = await running();
      const name = stored ? "sources/articles" : "revisions/articles/2";
      let removal: Awaited<ReturnType<typeof remove>> | undefined;
      deployment.plane.before = async (call, at) => {
        if (call !== "set" || at !== name) return;
        deployment.plane.before = () => {};
        removal = await remove(first, 2);
      };
      const activation = await put(first, { version: 2 });
      expect([activation.statusCode, removal?.statusCode]).toEqual(stored ? [200, 409] : [422, 200]);
      if (!stored) continue;
      expectProblem(await remove(first, 2), "DESCRIPTOR_IN_USE");
    }
  });

  it("404 for what was never there; every call is in the audit log", async () => {
    const { first } = await running();
    expectProblem(await remove(first, 7), "DESCRIPTOR_NOT_FOUND");
    expectProblem(await remove(first, 1), "DESCRIPTOR_IN_USE");
    expect((await remove(first, 2)).statusCode).toBe(200);
    const audit = new Map<string, number>();
    for (const [name, { value }] of first.deployment.plane.records) {
      if (!name.startsWith("audit")) continue;
      for (const [key] of Buffer.from(value)
        .toString()
        .matchAll(/"outcome":"\w+","code":(?:null|"\w+")/g)) {
        audit.set(key, (audit.get(key) ?? 0) + 1);
      }
    }
    expect(Object.fromEntries(audit)).toEqual({
      '"outcome":"applied","code":null': 3,
      '"outcome":"refused","code":"DESCRIPTOR_NOT_FOUND"': 1,
      '"outcome":"refused","code":"DESCRIPTOR_IN_USE"': 1,
    });
  });
});
