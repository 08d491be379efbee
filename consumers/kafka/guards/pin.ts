import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

/** The only version of kafkajs that the guards were written for and checked against. */
export const KAFKAJS_VERSION = "2.2.4";

const requireModule = createRequire(import.meta.url);

/** The installed kafkajs is not the one that the guards know: consuming with it could move offsets. Refuse to start. */
export class GuardMismatch extends Error {
  readonly code = "KAFKAJS_GUARD_MISMATCH";

  constructor(detail: string) {
    super(`kafkajs ${KAFKAJS_VERSION} is required as published: ${detail}`);
    this.name = "GuardMismatch";
  }
}

/** First 16 hexadecimal digits of the SHA-256 of a text. */
export function digestOf(text: string | Buffer): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** @throws GuardMismatch unless the installed version is exactly {@link KAFKAJS_VERSION}. */
export function requireVersion(): void {
  const manifest: unknown = requireModule("kafkajs/package.json");
  const version = isObject(manifest) ? Reflect.get(manifest, "version") : undefined;
  if (version !== KAFKAJS_VERSION) throw new GuardMismatch(`version ${String(version)} is installed`);
}

/**
 * Loads an internal module of kafkajs by path below the package.
 * @throws GuardMismatch when what it exports does not satisfy `check`.
 */
export function loadInternal<T>(path: string, check: (value: unknown) => value is T): T {
  const exported: unknown = requireModule(`kafkajs/${path}`);
  if (!check(exported)) throw new GuardMismatch(`${path} does not export what is expected`);
  return exported;
}

/** @throws GuardMismatch when the text of `path` has another digest. */
export function requireFile(path: string, digest: string): void {
  const found = digestOf(readFileSync(requireModule.resolve(`kafkajs/${path}`)));
  if (found !== digest) throw new GuardMismatch(`${path} has digest ${found} instead of ${digest}`);
}

/** @throws GuardMismatch when `member` is no function or its text has another digest. */
export function requireText(name: string, member: unknown, digest: string): void {
  if (typeof member !== "function") throw new GuardMismatch(`${name} does not exist`);
  const found = digestOf(Function.prototype.toString.call(member));
  if (found !== digest) throw new GuardMismatch(`${name} has digest ${found} instead of ${digest}`);
}

/** The module object in Node's cache, whose `exports` a later `require` of kafkajs will see. */
export function cachedModule(path: string): { exports: unknown } {
  const resolved = requireModule.resolve(`kafkajs/${path}`);
  requireModule(resolved);
  const module = requireModule.cache[resolved];
  if (module === undefined) throw new GuardMismatch(`${path} is not in the module cache`);
  return module;
}

/** Whether a value can have members: an object or a function. */
export function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/**
 * Loads a class of kafkajs.
 * @throws GuardMismatch when the module exports no class with these methods.
 */
export function loadClass<T extends object>(path: string, methods: ReadonlyArray<keyof T & string>): { prototype: T } {
  const isClass = (value: unknown): value is { prototype: T } =>
    isObject(value) && hasMethods(Reflect.get(value, "prototype"), methods);
  return loadInternal(path, isClass);
}

/**
 * Loads an object of functions.
 * @throws GuardMismatch when the module exports no object with these functions.
 */
export function loadFunctions<T extends object>(path: string, names: ReadonlyArray<keyof T & string>): T {
  const isIt = (value: unknown): value is T => hasMethods(value, names);
  return loadInternal(path, isIt);
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof Reflect.get(value, name) === "function");
}
