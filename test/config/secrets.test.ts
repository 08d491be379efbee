import { expect, test } from "vitest";
import { faultsOf, load, refusalOf } from "./support.ts";

const sasl = (rest: string) => `broker: { sasl: { mechanism: scram-sha-512, username: u, ${rest} } }`;

test("a password comes from a variable, whole or inside", () => {
  const whole = load({ yaml: sasl('password: "${KAFKA_PASSWORD}"'), env: { KAFKA_PASSWORD: "hunter2" } });
  expect(whole.config.broker.sasl?.password).toBe("hunter2");
  expect(whole.provenance.get("broker.sasl.password")).toBe("env KAFKA_PASSWORD");
  const inside = load({ yaml: sasl('password: "${A}-$${B}-${C}"'), env: { A: "1", C: "3" } });
  expect(inside.config.broker.sasl?.password).toBe("1-${B}-3");
  expect(inside.provenance.get("broker.sasl.password")).toBe("env A, C");
});

test("what a variable holds is not substituted again", () => {
  const { config } = load({ yaml: sasl('password: "${A}"'), env: { A: "${B}", B: "other" } });
  expect(config.broker.sasl?.password).toBe("${B}");
});

test("a password comes from a file, without its last line break", () => {
  const given = { yaml: sasl("passwordFile: secret"), files: { "/srv/app/secret": "hunter 2 \n" } };
  const { config, provenance } = load(given);
  expect(config.broker.sasl).toEqual({ mechanism: "scram-sha-512", username: "u", password: "hunter 2 " });
  expect(provenance.get("broker.sasl.password")).toBe("file /srv/app/secret");
});

test.each<[string, string, Record<string, string>, Record<string, string>, RegExp]>([
  ["a literal password", "password: hunter2", {}, {}, /stands in the file itself/],
  ["a variable that is not set", 'password: "${MISSING}"', {}, {}, /MISSING is not set; set MISSING/],
  ["a variable that is empty", 'password: "${EMPTY}"', { EMPTY: "" }, {}, /EMPTY is empty/],
  ["another spelling", 'password: "${A:-hunter2}"', { A: "x" }, {}, /no variable name/],
  [
    "both ways",
    'password: "${A}", passwordFile: secret',
    { A: "hunter2" },
    { "/srv/app/secret": "hunter2" },
    /both password and passwordFile/,
  ],
  ["neither way", "", {}, {}, /neither password nor passwordFile/],
  ["a missing file", "passwordFile: gone", {}, {}, /\/srv\/app\/gone cannot be read \(ENOENT\)/],
  ["an empty file", "passwordFile: secret", {}, { "/srv/app/secret": "\n" }, /the file is empty/],
  ["a file of several lines", "passwordFile: secret", {}, { "/srv/app/secret": "hunter2\nb\n" }, /several lines/],
  [
    "a file that is too large",
    "passwordFile: secret",
    {},
    { "/srv/app/secret": "hunter2".repeat(10_000) },
    /more than 65536 bytes/,
  ],
])("%s is refused", (_what, rest, env, files, text) => {
  const given = { yaml: sasl(rest), env, files };
  expect(faultsOf(given)).toHaveLength(1);
  expect(refusalOf(given).message).toMatch(text);
});

test.each([
  ["a literal password", sasl("password: hunter2")],
  ["a misspelt key", sasl("pasword: hunter2")],
  ["a block in place of a text", sasl("password: { a: hunter2 }")],
  ["a list in place of a text", sasl("password: [hunter2]")],
  ["a number past the digits of a text", sasl('password: "${HIDDEN}", passwordFile: secret')],
  ["a variable in the wrong place", 'http: { port: "${HIDDEN}" }'],
  ["a variable where a word is wanted", 'log: { level: "${HIDDEN}" }'],
  ["a variable where a list is wanted", 'broker: { brokers: "${HIDDEN}" }'],
  ["an alias", "broker: { sasl: { password: *hunter2 } }"],
  ["a tag", "broker: { sasl: { password: !hunter2 x } }"],
  ["a reserved character", "broker:\n  sasl:\n    password: @hunter2"],
  ["a percent sign", "broker:\n  sasl:\n    password: %hunter2"],
  ["a second colon", "broker:\n  sasl:\n    password: hunter2: x"],
  ["an unclosed quote", 'broker:\n  sasl:\n    password: "hunter2'],
  ["a bad escape", 'broker:\n  sasl:\n    password: "\\hunter2"'],
])("no fault shows a secret: %s", (_what, yaml) => {
  const error = refusalOf({ yaml, env: { HIDDEN: "hunter2" }, files: { "/srv/app/secret": "hunter2" } });
  expect(`${error.message} ${JSON.stringify(error.extra)}`).not.toContain("hunter2");
});

test("digits and booleans of variables count where a number or a boolean is wanted, lists are split at commas", () => {
  const yaml = `
http: { port: "\${PORT}" }
log: { pretty: "\${PRETTY}" }
broker: { brokers: "\${BROKERS}" }
limits: { drainTimeout: "\${DRAIN}", inFlightBytes: "\${BYTES}" }
`;
  const env = { PORT: "0", PRETTY: "true", BROKERS: "a:9092, b:9092", DRAIN: "5s", BYTES: "128MiB" };
  const { config, provenance } = load({ yaml, env });
  expect(config).toMatchObject({
    http: { port: 0 },
    log: { pretty: true },
    broker: { brokers: ["a:9092", "b:9092"] },
    limits: { drainTimeoutMs: 5000, inFlightBytes: 134_217_728 },
  });
  expect(provenance.get("broker.brokers")).toBe("env BROKERS");
});

test("certificates are checked when the configuration is read", () => {
  const yaml = "broker: { ssl: { caFile: server.pem } }\nhttp: { tls: { certFile: server.pem, keyFile: server.pem } }";
  expect(load({ yaml }).config).toMatchObject({
    broker: { ssl: { caFile: "/srv/app/server.pem" } },
    http: { tls: { certFile: "/srv/app/server.pem", keyFile: "/srv/app/server.pem" } },
  });
});

test("ssl that is not enabled is not in force", () => {
  expect(load({ yaml: "broker: { ssl: { enabled: false, caFile: server.pem } }" }).config.broker).not.toHaveProperty(
    "ssl",
  );
});
