import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const VALIDITY = ["-days", "2"];
const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** A self-made authority: files in PEM. */
export interface Authority {
  /** Its certificate: what a client trusts. */
  readonly caFile: string;
  readonly caKeyFile: string;
}

async function openssl(...args: readonly string[]): Promise<void> {
  await run("openssl", [...args]);
}

/** Makes an authority in `folder`. Needs openssl. */
export async function makeAuthority(folder: string, name: string): Promise<Authority> {
  const [caFile, caKeyFile] = [join(folder, `${name}-ca.pem`), join(folder, `${name}-ca-key.pem`)];
  const files = ["-keyout", caKeyFile, "-out", caFile];
  await openssl("req", "-x509", ...NEW_KEY, "-subj", `/CN=${name} authority`, ...VALIDITY, ...files);
  return { caFile, caKeyFile };
}

/**
 * Issues a server certificate for `hosts` (`DNS:name` or `IP:address`) and returns the file that holds its key and
 * itself, as Kafka's PEM key store wants them.
 */
export async function issue(
  authority: Authority,
  folder: string,
  name: string,
  hosts: readonly string[],
): Promise<string> {
  const file = (what: string): string => join(folder, `${name}-${what}.pem`);
  await openssl("req", ...NEW_KEY, "-subj", `/CN=${name}`, "-keyout", file("key"), "-out", file("request"));
  await writeFile(file("extensions"), `subjectAltName=${hosts.join(",")}\n`);
  const signer = ["-CA", authority.caFile, "-CAkey", authority.caKeyFile, "-CAcreateserial", ...VALIDITY];
  const files = ["-in", file("request"), "-extfile", file("extensions"), "-out", file("certificate")];
  await openssl("x509", "-req", ...signer, ...files);
  const parts = await Promise.all([readFile(file("key"), "utf8"), readFile(file("certificate"), "utf8")]);
  await writeFile(file("store"), parts.join("\n"));
  return file("store");
}
