import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  assertListenAllowed,
  createAccess,
  hashToken,
  hostOfAuthority,
  isLoopbackName,
  ROLES,
  roleCovers,
} from "../../src/access/index.ts";

const TOKEN = "0123456789-abcdefghij";

describe("hashToken", () => {
  test("is SHA-256 in hex", () => {
    expect(hashToken(TOKEN)).toBe(createHash("sha256").update(TOKEN).digest("hex"));
  });

  test.each([
    "",
    "short",
    "a".repeat(19),
    "a".repeat(513),
    "with space in the middle",
    "ünïcödé-ünïcödé-ünïcödé",
    "a".repeat(30) + "\n",
  ])("refuses %j: no request could carry it, or it could be guessed", (token) => {
    expect(() => hashToken(token)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });
});

describe("roles", () => {
  test("each covers itself and the ones before it", () => {
    const table = ROLES.map((held) => ROLES.map((needed) => roleCovers(held, needed)));
    expect(table).toEqual([
      [true, false, false],
      [true, true, false],
      [true, true, true],
    ]);
  });
});

describe("createAccess", () => {
  const access = createAccess([
    { name: "one", role: "viewer", sha256: hashToken(TOKEN) },
    { name: "two", role: "admin", sha256: hashToken(`${TOKEN}2`) },
  ]);

  test("knows a caller by the token", () => {
    expect(access.hasTokens).toBe(true);
    expect(access.authenticate(`Bearer ${TOKEN}`)).toEqual({ name: "one", role: "viewer" });
    expect(access.authenticate(`bearer   ${TOKEN}2`)).toEqual({ name: "two", role: "admin" });
  });

  test.each([undefined, "", "Bearer", "Bearer ", TOKEN, `Basic ${TOKEN}`, `Bearer ${TOKEN} `, `XBearer ${TOKEN}`])(
    "%j carries no token",
    (header) => {
      expect(() => access.authenticate(header)).toThrow(expect.objectContaining({ code: "TOKEN_MISSING" }));
    },
  );

  test.each([`Bearer ${TOKEN}3`, `Bearer ${TOKEN.toUpperCase()}`, `Bearer ${hashToken(TOKEN)}`, "Bearer x"])(
    "%j carries a token that is none of ours",
    (header) => {
      expect(() => access.authenticate(header)).toThrow(expect.objectContaining({ code: "TOKEN_INVALID" }));
    },
  );

  test("no failure quotes what was sent", () => {
    try {
      access.authenticate("Bearer very-secret-very-secret");
      expect.unreachable();
    } catch (error) {
      expect(String(error)).not.toContain("very-secret");
    }
  });

  test("without tokens nobody is asked", () => {
    const open = createAccess([]);
    expect(open.hasTokens).toBe(false);
    expect(open.authenticate(undefined)).toBeUndefined();
    expect(open.authenticate("Bearer nonsense")).toBeUndefined();
  });
});

describe("loopback", () => {
  test.each(["localhost", "LOCALHOST", "127.0.0.1", "127.255.255.255", "::1"])("%s is loopback", (host) => {
    expect(isLoopbackName(host)).toBe(true);
    expect(() => assertListenAllowed(host, false)).not.toThrow();
  });

  test.each([
    "0.0.0.0",
    "::",
    "",
    "10.0.0.1",
    "127.0.0.1.example.com",
    "127.0.0",
    "127.0.0.256",
    "localhost.",
    "xlocalhost",
    "::ffff:127.0.0.1",
  ])("%j is not: it may be listened on with tokens alone", (host) => {
    expect(() => assertListenAllowed(host, false)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(() => assertListenAllowed(host, true)).not.toThrow();
  });

  test.each([
    ["localhost", "localhost"],
    ["LocalHost:8080", "localhost"],
    ["[::1]:80", "::1"],
    ["127.0.0.1:1", "127.0.0.1"],
    ["::1", undefined],
    ["a:b", undefined],
    ["a:123456", undefined],
    ["user@a", undefined],
    ["", undefined],
    ["a b", undefined],
    ["[::1", undefined],
  ])("the host of %j is %j", (authority, host) => {
    expect(hostOfAuthority(authority)).toBe(host);
  });
});
