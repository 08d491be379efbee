import { expect, test } from "vitest";

import { randomClusterId, serverProperties } from "../../local/broker/kafka-settings.ts";

const IDENTITY = { clusterId: "MkU3OEVBNTcwNTJENDM2Qg", port: 20_001, controllerPort: 20_002 };

test("cluster ids are 22 characters, differ, and never look like a flag", () => {
  const ids = Array.from({ length: 500 }, () => randomClusterId());
  expect(new Set(ids).size).toBe(500);
  expect(ids.filter((id) => !/^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/.test(id))).toEqual([]);
});

test("settings of the caller win over the defaults, once each", () => {
  const lines = serverProperties(IDENTITY, "/data", { "num.partitions": "7", "my.setting": "x" }).split("\n");
  expect(lines.filter((line) => line.startsWith("num.partitions="))).toEqual(["num.partitions=7"]);
  expect(lines).toContain("my.setting=x");
  expect(lines).toContain("advertised.listeners=PLAINTEXT://127.0.0.1:20001");
});

test.each<Record<string, string>>([{ listeners: "PLAINTEXT://0.0.0.0:9092" }, { "log.dirs": "/" }, { a: "b\nc=d" }])(
  "refuses %j",
  (settings) => {
    expect(() => serverProperties(IDENTITY, "/data", settings)).toThrow(/set by the local broker|not one line/);
  },
);
