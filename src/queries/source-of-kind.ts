import type { KindName } from "../core/source.ts";
import { StreamsError } from "../errors.ts";
import type { Fleet } from "../fleet/fleet.ts";

/** Which source answers a question about a kind. */
export interface SourceOfKind {
  readonly source: string;
  readonly namespace: string;
}

/**
 * The one source of a kind, or that of the namespace. @throws StreamsError NAMESPACE_UNKNOWN where there is none,
 * NAMESPACE_NEEDED where there are several; NOT_READY before they are loaded
 */
export function sourceOfKind(
  fleet: Pick<Fleet, "services" | "phase">,
  kind: KindName,
  namespace: string | undefined,
): SourceOfKind {
  if (fleet.phase === "starting") throw new StreamsError("NOT_READY", "the sources are not loaded yet");
  const all = fleet.services().map(({ parts }) => parts.inForce.definition);
  const ofKind = all.filter((definition) => definition.kind === kind);
  if (namespace !== undefined) {
    const found = ofKind.find((definition) => definition.namespace === namespace);
    if (found === undefined) throw new StreamsError("NAMESPACE_UNKNOWN", `no ${kind} source writes to ${namespace}`);
    return { source: found.name, namespace };
  }
  const [only, another] = ofKind;
  if (only === undefined) throw new StreamsError("NAMESPACE_UNKNOWN", `there is no ${kind} source`);
  if (another !== undefined) {
    const names = ofKind.map((definition) => definition.namespace).join(", ");
    throw new StreamsError("NAMESPACE_NEEDED", `several ${kind} sources write, to ${names}`);
  }
  return { source: only.name, namespace: only.namespace };
}
