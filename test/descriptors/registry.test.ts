import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { StreamsError } from "../../src/errors.ts";
import { setOf } from "../decoding/sets.ts";
import { expectContract, expectProblem } from "../routes/support/contract.ts";
import { Deployment, Instance } from "./world.ts";

const VERSIONS = "/v1/descriptors/{subject}/versions";
const url = (subject: string) => `/v1/descriptors/${subject}/versions`;
const proto3 = (body: string) => `syntax = "proto3"; package t; ${body}`;

interface Body {
  readonly version: number;
  readonly versions: readonly { readonly version: number }[];
  readonly differences: readonly Record<string, unknown>[];
  readonly detail: string;
}

const serving = () => new Instance(new Deployment()).serve();

describe("registering", () => {
  it("stores a version with who and when, and answers the same content with it, however it is written", async () => {
    const instance = await serving();
    const first = await instance.register("s", proto3("message M { string a = 1; int32 b = 2; } message N {}"), "t.M");
    expect(first.statusCode).toBe(201);
    expect(first.headers["location"]).toBe("/v1/descriptors/s/versions/1");
    expect(first.json()).toMatchObject({ subject: "s", version: 1, message: "t.M", actor: "anonymous" });
    if (instance.app !== undefined) expectContract(instance.app, "POST", VERSIONS, first);
    const written = proto3(
      "/* N */ message N {}\n\n message M { int32 b = 2 [deprecated = true]; // b\n string a = 1; }",
    );
    const again = await instance.register("s", written, "t.M");
    expect(again.statusCode).toBe(200);
    expect(again.headers["location"]).toBe("/v1/descriptors/s/versions/1");
    expect(again.json()).toEqual(first.json());
    const text = await instance.call("GET", `${url("s")}/1`);
    expect(text.json()).toMatchObject({ version: 1, files: { "a.proto": expect.stringContaining("message N {}") } });
    if (instance.app !== undefined) expectContract(instance.app, "GET", `${VERSIONS}/{version}`, text);
  });

  it("takes a descriptor set, as the body itself or in base64", async () => {
    const instance = await serving();
    const set = readFileSync("proto/baseline.binpb");
    const binary = await instance.call("POST", `${url("s")}?message=ysearch.streams.v1.Article&reason=first`, {
      headers: { "content-type": "application/x-protobuf" },
      payload: set,
    });
    expect(binary.statusCode, binary.body).toBe(201);
    const payload = { set: set.toString("base64"), message: "ysearch.streams.v1.Article" };
    const encoded = await instance.call("POST", url("s"), { payload });
    expect(encoded.statusCode).toBe(200);
    const files = (await instance.call("GET", `${url("s")}/1`)).json<{ files: Record<string, string> }>().files;
    expect((await instance.call("POST", url("s"), { payload: { files, message: payload.message } })).statusCode).toBe(
      200,
    );
    const twice = await instance.call("POST", `${url("s")}?message=t.M`, { payload });
    expectProblem(twice, "REQUEST_MALFORMED");
    expectProblem(
      await instance.call("POST", url("s"), { payload: { set: "a", message: "t.M" } }),
      "REQUEST_MALFORMED",
    );
    const other = await instance.call("POST", url("s"), { headers: { "content-type": "text/plain" }, payload: "x" });
    expectProblem(other, "MEDIA_TYPE_UNSUPPORTED");
    const elsewhere = await instance.call("PUT", "/v1/sources/articles/pause", {
      headers: { "content-type": "application/octet-stream" },
      payload: "x",
    });
    expectProblem(elsewhere, "MEDIA_TYPE_UNSUPPORTED");
  });

  it("a set without its imports is refused with the file's name, and leaves no version", async () => {
    const instance = await serving();
    const field = (name: string, number: number, typeName: string) => ({ name, number, label: 1, type: 11, typeName });
    const timestamp = "google/protobuf/timestamp.proto";
    const a = {
      name: "a.proto",
      syntax: "proto3",
      dependency: ["b.proto", timestamp],
      messageType: [{ name: "M", field: [field("id", 1, ".b.Id"), field("at", 2, ".google.protobuf.Timestamp")] }],
    };
    const b = { name: "b.proto", package: "b", syntax: "proto3", messageType: [{ name: "Id" }] };
    const known = {
      name: timestamp,
      package: "google.protobuf",
      syntax: "proto3",
      messageType: [{ name: "Timestamp" }],
    };
    const send = (...file: readonly object[]) => {
      const bytes = setOf(...file);
      return instance.call("POST", url("s"), { payload: { set: Buffer.from(bytes).toString("base64"), message: "M" } });
    };
    const refused = await send(a);
    expectProblem(refused, "DESCRIPTOR_INVALID");
    expect(refused.json<Body>().detail).toContain('"b.proto"');
    expectProblem(await instance.call("GET", url("s")), "DESCRIPTOR_NOT_FOUND");
    expect((await send(a, b)).statusCode).toBe(201);
    expect((await send(known, a, b)).statusCode).toBe(200);
  });

  it("types that hold themselves are registered and shown as they are written", async () => {
    const instance = await serving();
    const text = proto3(
      'import "google/protobuf/struct.proto"; message Doc { Doc child = 8; google.protobuf.Struct s = 1; }',
    );
    expect((await instance.register("s", text)).statusCode).toBe(201);
    expect((await instance.call("GET", `${url("s")}/1`)).json()).toMatchObject({ files: { "a.proto": text } });
  });

  it("refuses names that reach a prototype, and JSON names that collide, naming the field", async () => {
    const instance = await serving();
    const proto = await instance.register("s", proto3("message M { string __proto__ = 1; string constructor = 2; }"));
    expectProblem(proto, "DESCRIPTOR_INVALID");
    expect(proto.json<Body>().detail).toContain("__proto__");
    expect((await instance.register("s", proto3("message M { string constructor = 2; }"))).statusCode).toBe(201);
    const path = await instance.call("POST", url("s"), {
      headers: { "content-type": "application/json" },
      payload: '{"files":{"__proto__":"message M {}"}}',
    });
    expectProblem(path, "BODY_NOT_JSON");
    const clash = await instance.register(
      "n",
      "message M { optional fixed32 eventType = 1; optional fixed32 event_type = 2; }",
    );
    expectProblem(clash, "DESCRIPTOR_INVALID");
    expect(clash.json<Body>().detail).toContain("eventType");
  });

  it("proto2 groups and the features of editions are taken, other editions refused by name", async () => {
    const instance = await serving();
    const group = "package t; message M { required string v = 1; optional group G = 5 { optional int32 x = 1; } }";
    expect((await instance.register("g", group, "t.M")).statusCode).toBe(201);
    const edition =
      'edition = "2023"; package t; message M { In d = 3 [features.message_encoding = DELIMITED]; } message In {}';
    expect((await instance.register("e", edition, "t.M")).statusCode).toBe(201);
    const future = await instance.register("f", 'edition = "2042"; message M {}');
    expectProblem(future, "DESCRIPTOR_INVALID");
    expect(future.json<Body>().detail).toContain("2042");
  });

  it("asks for the message where there are several, and keeps it from version to version", async () => {
    const instance = await serving();
    const text = (more: string) => proto3(`message A { string a = 1; ${more} } message B {}`);
    expectProblem(await instance.register("s", text("")), "DESCRIPTOR_INVALID");
    expectProblem(await instance.register("s", text(""), "t.C"), "DESCRIPTOR_INVALID");
    await instance.register("s", text(""), "t.A");
    expect((await instance.register("s", text("string b = 2;"))).json()).toMatchObject({ version: 2, message: "t.A" });
  });
});

describe("compatibility", () => {
  it("a name may change, a number may not change its meaning", async () => {
    const instance = await serving();
    await instance.register("s", proto3("message M { string foo = 1; string email = 3; }"));
    expect(
      (await instance.register("s", proto3("message M { string foobar = 1; string email = 3; }"))).statusCode,
    ).toBe(201);
    const dropped = await instance.register("s", proto3("message M { string foobar = 1; }"));
    const problem = expectProblem(dropped, "DESCRIPTOR_INCOMPATIBLE");
    const gone = {
      code: "FIELD_REMOVED",
      type: "t.M",
      number: 3,
      before: "string email",
      againstVersion: 2,
      breaks: true,
    };
    expect(problem["differences"]).toEqual([expect.objectContaining(gone)]);
    if (instance.app !== undefined) expectContract(instance.app, "POST", VERSIONS, dropped);
    const reserved = proto3("message M { string foobar = 1; reserved 3; }");
    expect((await instance.register("s", reserved)).json()).toMatchObject({ version: 3 });
    for (const reuse of ["int64 spend = 3;", "string city = 3;", ""]) {
      const answer = await instance.register("s", proto3(`message M { string foobar = 1; ${reuse} }`));
      expectProblem(answer, "DESCRIPTOR_INCOMPATIBLE");
    }
    expect((await instance.call("GET", url("s"))).json<Body>().versions.map(({ version }) => version)).toEqual([
      3, 2, 1,
    ]);
  });

  it("is told without registering", async () => {
    const instance = await serving();
    await instance.register("s", proto3("message M { string a = 1; }"));
    const check = (text: string) =>
      instance.call("POST", "/v1/descriptors/s/compatibility", { payload: { files: { "a.proto": proto3(text) } } });
    const bad = await check("message M { int32 a = 1; }");
    expect(bad.json()).toMatchObject({
      compatible: false,
      total: 1,
      differences: [{ code: "TYPE_CHANGED", number: 1 }],
    });
    if (instance.app !== undefined)
      expectContract(instance.app, "POST", "/v1/descriptors/{subject}/compatibility", bad);
    expect((await check("message M { string renamed = 1; }")).json()).toMatchObject({ compatible: true, total: 1 });
    expect((await check("message M { string a = 1; }")).json()).toMatchObject({
      compatible: true,
      sameAs: 1,
      total: 0,
    });
    expectProblem(await check("message M {"), "DESCRIPTOR_INVALID");
    expect((await instance.call("GET", url("s"))).json<Body>().versions).toHaveLength(1);
  });

  it("tells at most a hundred differences", async () => {
    const instance = await serving();
    const many = (type: string) =>
      Array.from({ length: 250 }, (_, index) => `${type} f${index} = ${index + 1};`).join("");
    await instance.register("s", proto3(`message M { ${many("string")} }`));
    const answer = await instance.register("s", proto3(`message M { ${many("int32")} }`));
    expectProblem(answer, "DESCRIPTOR_INCOMPATIBLE");
    expect(answer.json<Body>().differences).toHaveLength(100);
    expect(answer.json<Body>().detail).toContain("250 differences");
  });

  it("old content again is its old version: nothing else becomes the newest", async () => {
    const instance = await serving();
    const texts = ["string a = 1;", "string a = 1; string b = 2;", "string a = 1; string b = 2; string c = 3;"];
    for (const text of texts) await instance.register("s", proto3(`message M { ${text} }`));
    const old = await instance.register("s", proto3(`message M { ${texts[0]} }`));
    expect(old.statusCode).toBe(200);
    expect(old.json<Body>().version).toBe(1);
    expect((await instance.call("GET", url("s"))).json<Body>().versions[0]).toMatchObject({ version: 3 });
    expectProblem(await instance.call("PUT", `${url("s")}/3`, { payload: {} }), "METHOD_NOT_ALLOWED");
  });
});

describe("at the same time", () => {
  const one = (index: number) => proto3(`message M { string a = 1; int32 f${index} = ${index + 2}; }`);

  /** Registers on two instances in turn. */
  const onTwo = async (deployment: Deployment) => {
    const [even, odd] = [await new Instance(deployment).serve(), await new Instance(deployment).serve()];
    return (index: number, text: string) => (index % 2 === 0 ? even : odd).register("s", text);
  };

  it("equal uploads are one version, on several instances", async () => {
    const deployment = new Deployment();
    const register = await onTwo(deployment);
    const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => register(index, one(0))));
    expect(answers.map((answer) => answer.json<Body>().version)).toEqual(Array.from({ length: 10 }, () => 1));
    expect(answers.filter((answer) => answer.statusCode === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.statusCode === 200)).toHaveLength(9);
  });

  it("different uploads are versions without gaps or repeats, on several instances", async () => {
    const deployment = new Deployment();
    const register = await onTwo(deployment);
    // A name is not on the wire: each fits to all others.
    const texts = Array.from({ length: 10 }, (_, index) => proto3(`message M { string f${index} = 1; }`));
    const answers = await Promise.all(texts.map((text, index) => register(index, text)));
    expect(answers.map((answer) => answer.statusCode)).toEqual(texts.map(() => 201));
    const versions = answers.map((answer) => answer.json<Body>().version);
    expect(versions.toSorted((a, b) => a - b)).toEqual(texts.map((_, index) => index + 1));
    for (const [index, version] of versions.entries()) {
      const stored = await deployment.plane.control.read(`descriptors/s/${version}`);
      const { files } = JSON.parse(Buffer.from(stored?.value ?? []).toString()) as { files: object };
      expect(files).toEqual({ "a.proto": texts[index] });
    }
  });

  it("a crash between storing and counting leaves a version that the next upload counts", async () => {
    const deployment = new Deployment();
    const instance = await new Instance(deployment).serve();
    await instance.register("s", one(0));
    deployment.plane.after = (name) => {
      if (name === "descriptors/s/2") throw new StreamsError("KV_UNAVAILABLE", "the answer was lost");
    };
    const text = proto3("message M { string a = 1; int32 f0 = 2; int32 f1 = 3; }");
    expectProblem(await instance.register("s", text), "KV_UNAVAILABLE");
    deployment.plane.after = () => {};
    const again = await instance.register("s", text);
    expect(again.statusCode).toBe(200);
    expect(again.json<Body>().version).toBe(2);
  });
});

describe("the list", () => {
  it("is paged, the newest first", async () => {
    const deployment = new Deployment();
    const instance = await new Instance(deployment).serve();
    for (let version = 1; version <= 53; version += 1) {
      const record = { files: { "a.proto": "message M {}" }, message: "M", digest: `${version}`, layout: "l" };
      const bytes = new TextEncoder().encode(JSON.stringify(record));
      await deployment.plane.control.compareAndSet(`descriptors/s/${version}`, undefined, bytes);
    }
    await deployment.plane.control.compareAndSet("descriptors/s", undefined, new TextEncoder().encode('{"latest":53}'));
    const first = (await instance.call("GET", url("s"))).json<Body & { next: string }>();
    expect(first.versions.map(({ version }) => version)).toEqual(Array.from({ length: 50 }, (_, index) => 53 - index));
    const rest = (await instance.call("GET", `${url("s")}?cursor=${first.next}`)).json<Body & { next?: string }>();
    expect(rest.versions.map(({ version }) => version)).toEqual([3, 2, 1]);
    expect(rest.next).toBeUndefined();
    expectProblem(await instance.call("GET", `${url("s")}?cursor=x`), "CURSOR_UNKNOWN");
    expectProblem(await instance.call("GET", `${url("s")}/54`), "DESCRIPTOR_NOT_FOUND");
  });
});
