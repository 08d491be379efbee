import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { pathToFileURL } from "node:url";
import { loadConfig, readBounded, type HttpConfig } from "../config/index.ts";

const TIMEOUT_MS = 3000;

/**
 * Asks the service of this container whether it is alive: GET /livez at the configured port, over loopback. Resolves to
 * true for a 200, false for anything else. Never rejects.
 */
export function isAlive({ host, port, tls }: HttpConfig): Promise<boolean> {
  const request = tls === undefined ? httpRequest : httpsRequest;
  const target = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return new Promise((resolve) => {
    // The certificate names the service, not loopback; nothing secret is sent.
    const options = { host: target, port, path: "/livez", timeout: TIMEOUT_MS, rejectUnauthorized: false };
    const call = request(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    call.on("timeout", () => call.destroy(new Error("no answer")));
    call.on("error", () => resolve(false));
    call.end();
  });
}

const script = process.argv[1];
if (script !== undefined && import.meta.url === pathToFileURL(script).href) {
  const { config } = loadConfig({ env: process.env, cwd: process.cwd(), readFile: readBounded });
  process.exitCode = (await isAlive(config.http)) ? 0 : 1;
}
