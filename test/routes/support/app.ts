import { onTestFinished } from "vitest";
import { type App, type AppOptions, buildApp, buildEdge } from "../../../routes/index.ts";
import { type Access, createAccess, hashToken } from "../../../src/access/index.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { FakeControlPlane } from "./fake-control-plane.ts";
import { type LogLine, recordingLogger } from "./recording-logger.ts";

/** Tokens of each role, for tests with access control. */
export const TOKENS = {
  viewer: "viewer-token-0123456789",
  operator: "operator-token-0123456789",
  admin: "admin-token-0123456789",
} as const;

/** Access with the three {@link TOKENS}. */
export function withTokens(): Access {
  return createAccess([
    { name: "dashboard", role: "viewer", sha256: hashToken(TOKENS.viewer) },
    { name: "script", role: "operator", sha256: hashToken(TOKENS.operator) },
    { name: "chief", role: "admin", sha256: hashToken(TOKENS.admin) },
  ]);
}

export interface TestApp {
  readonly app: App;
  readonly plane: FakeControlPlane;
  readonly log: LogLine[];
}

/** The app of default options: building one takes longer than most tests. */
let shared: Promise<TestApp> | undefined;

/** The app over a fake control plane. Without options it is shared by the tests of a file, its fake as new for each. */
export async function testApp(options?: Partial<AppOptions>): Promise<TestApp> {
  if (options === undefined) {
    shared ??= build({});
    const found = await shared;
    found.plane.reset();
    found.log.length = 0;
    return found;
  }
  const built = await build(options);
  onTestFinished(() => built.app.close());
  return built;
}

async function build(options: Partial<AppOptions>): Promise<TestApp> {
  const { options: complete, plane, log } = testOptions(options);
  return { app: await buildApp(complete), plane, log };
}

/** The edge without routes; the test registers its own. */
export async function testEdge(options: Partial<AppOptions> = {}): Promise<App> {
  const app = await buildEdge(testOptions(options).options);
  onTestFinished(() => app.close());
  return app;
}

function testOptions(options: Partial<AppOptions>) {
  const plane = new FakeControlPlane();
  const log: LogLine[] = [];
  const defaults: AppOptions = {
    controlPlane: plane,
    access: createAccess([]),
    logger: recordingLogger(log),
    clock: new ManualClock(),
    release: "1.2.3",
    metrics: async () => ({ contentType: "text/plain; version=0.0.4; charset=utf-8", text: "up 1\n" }),
  };
  return { options: { ...defaults, ...options }, plane, log };
}
