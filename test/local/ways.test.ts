import { describe, expect, test } from "vitest";

import type { WantedWay } from "../../local/broker/local-broker.ts";
import type { Probes } from "../../local/broker/ways.ts";
import { chooseWay, javaMajor, kafkaObstacle, parseBrokers } from "../../local/broker/ways.ts";

const NOTHING: Probes = {
  kafkaBrokers: undefined,
  docker: { missing: "docker was not found" },
  java: { missing: "java was not found" },
  maven: { missing: "mvn was not found" },
  jarsCached: false,
};
const KAFKA: Probes = { ...NOTHING, java: { major: 17 }, maven: { present: true } };

describe("the way to a broker", () => {
  test.each<[string, Probes, WantedWay, string]>([
    ["KAFKA_BROKERS comes first", { ...KAFKA, kafkaBrokers: "b:9092", docker: { engine: "28" } }, "auto", "external"],
    ["an engine that answers comes second", { ...KAFKA, docker: { engine: "28" } }, "auto", "docker"],
    ["a client without an engine does not count", { ...KAFKA, docker: { missing: "no engine" } }, "auto", "kafka"],
    ["an empty KAFKA_BROKERS does not count", { ...KAFKA, kafkaBrokers: "" }, "auto", "kafka"],
    ["who asks for Kafka gets it", { ...KAFKA, kafkaBrokers: "b:9092", docker: { engine: "28" } }, "kafka", "kafka"],
    ["one of one's own is Kafka", { ...KAFKA, kafkaBrokers: "b:9092", docker: { engine: "28" } }, "own", "kafka"],
    ["one of one's own is Docker's without Java", { ...NOTHING, docker: { engine: "28" } }, "own", "docker"],
    ["fetched jars need no Maven", { ...NOTHING, java: { major: 21 }, jarsCached: true }, "auto", "kafka"],
  ])("%s", (_, probes, wanted, way) => {
    expect(chooseWay(probes, wanted)).toBe(way);
  });

  test("no way: one error names all three and what is missing for each", () => {
    const message = /KAFKA_BROKERS=host:port[^]*docker was not found[^]*17 or newer and Maven \(java was not found\)/;
    expect(() => chooseWay(NOTHING, "auto")).toThrow(message);
  });

  test("who asks for Kafka is told what Kafka lacks, not about Docker", () => {
    const old = { ...KAFKA, java: { major: 11 }, docker: { engine: "28" } };
    expect(() => chooseWay(old, "kafka")).toThrow(/^Apache Kafka cannot be run here: Java 11 is too old/);
    expect(kafkaObstacle({ ...KAFKA, maven: { missing: "mvn was not found" } })).toBe("mvn was not found");
  });
});

test.each([
  ['openjdk version "17.0.15" 2025-04-15', 17],
  ['java version "1.8.0_402"', 8],
  ['openjdk version "24" 2025-03-18', 24],
  ['Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "21.0.2"', 21],
  ["command not found", undefined],
])("java -version: %j is %s", (output, major) => {
  expect(javaMajor(output)).toBe(major);
});

describe("KAFKA_BROKERS", () => {
  test("is a list of host:port", () => {
    expect(parseBrokers(" a:9092, b.example:1,[::1]:65535 ,")).toEqual(["a:9092", "b.example:1", "[::1]:65535"]);
  });

  test.each(["a", "a:0", "a:65536", "http://a:9092", "a:9092 b:9092", ":9092", ","])("refuses %j", (text) => {
    expect(() => parseBrokers(text)).toThrow(/KAFKA_BROKERS/);
  });
});
