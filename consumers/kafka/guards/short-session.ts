import type { ConnectionInternals } from "./internals.ts";
import { loadClass, requireText } from "./pin.ts";

/**
 * G8. Published behaviour: a login is renewed a fixed time before it ends, so one that holds for less than that time
 * is renewed before every request. Kafka closes a connection that logs in again within a second: nothing is ever read.
 * Guarded: a login is renewed no earlier than after half of its time, as the broker gave it (KIP-368).
 */
export function guardShortSession(): void {
  const { prototype: connection } = loadClass<ConnectionInternals>("src/network/connection.js", ["isAuthenticated"]);
  const original = connection.isAuthenticated;
  requireText("Connection.isAuthenticated", original, "74e87a75bbf127f1");
  connection.isAuthenticated = function halfTheSession(this: ConnectionInternals): boolean {
    const lifetimeMs = this.sessionLifetime.toNumber();
    if (lifetimeMs > 0) {
      this.reauthenticationThreshold = Math.min(this.reauthenticationThreshold, Math.floor(lifetimeMs / 2));
    }
    return original.call(this);
  };
}
