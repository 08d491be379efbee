import type { Static } from "@sinclair/typebox";
import type { SourceDefinition, SourceSeed, StartFrom } from "../../src/core/source.ts";
import type { DefinitionView } from "../../src/ports/control-plane.ts";
import { malformed } from "../edge/refusals.ts";
import { defined } from "../schema/closed.ts";
import { readMoment } from "../schema/operator-values.ts";
import { timeText } from "../schema/values.ts";
import type { Definition, DefinitionInForce, DefinitionToPut } from "./definition-schema.ts";

type DefinitionBody = Static<typeof Definition>;

/** Writes what is in force as the API spells it. */
export function definitionInForceBody(view: DefinitionView): Static<typeof DefinitionInForce> {
  const { definition, revision, fileDiffers } = view;
  return defined({
    definition: definitionBody(definition),
    revision,
    fileDiffers: fileDiffers === undefined ? undefined : [...fileDiffers],
  });
}

function definitionBody(definition: SourceDefinition): DefinitionBody {
  const { startFrom, descriptor, mapping } = definition;
  return defined({
    name: definition.name,
    kind: definition.kind,
    topic: definition.topic,
    group: definition.group,
    namespace: definition.namespace,
    format: definition.format,
    framing: definition.framing,
    descriptor: descriptor === undefined ? undefined : { ...descriptor },
    mapping,
    body: definition.body,
    startFrom: typeof startFrom === "string" ? startFrom : { timestamp: timeText(startFrom.timestampMs) },
    worstLagMs: definition.worstLagMs,
    allowShortRetention: definition.allowShortRetention,
    counting: definition.counting && { ...definition.counting, scoreEdges: [...definition.counting.scoreEdges] },
    onPoison: definition.onPoison,
    deadLetterTopic: definition.deadLetterTopic,
    createDeadLetterTopic: definition.createDeadLetterTopic,
  });
}

/**
 * Reads a validated body as a source to be defined.
 * @throws StreamsError REQUEST_MALFORMED for a time that no calendar has
 */
export function readSeed(body: Static<typeof DefinitionToPut>): SourceSeed {
  const { startFrom, descriptor, mapping, allowShortRetention, ...rest } = body;
  return defined({
    ...rest,
    // False and absent are one thing: a definition that is sent back as the file spells it is no change.
    allowShortRetention: allowShortRetention === true ? true : undefined,
    descriptor: descriptor && defined(descriptor),
    mapping,
    startFrom: readStartFrom(startFrom),
  });
}

/**
 * Takes a source as the whole definition that a change needs.
 * @throws StreamsError REQUEST_MALFORMED when it leaves something open
 */
export function completeDefinition({ descriptor, mapping, ...rest }: SourceSeed): SourceDefinition {
  const open = (pointer: string) => malformed("body", pointer, "only a new source may leave it out");
  if (mapping === undefined) throw open("/mapping");
  if (descriptor === undefined) return { ...rest, mapping };
  const { subject, version, message } = descriptor;
  if (version === undefined) throw open("/descriptor/version");
  if (message === undefined) throw open("/descriptor/message");
  return { ...rest, descriptor: { subject, version, message }, mapping };
}

function readStartFrom(startFrom: DefinitionBody["startFrom"]): StartFrom {
  if (typeof startFrom === "string") return startFrom;
  return { timestampMs: readMoment(startFrom.timestamp, "body", "/startFrom/timestamp", "down") };
}
