import { kinds } from "../../consumers/index.ts";
import type { AuditLog } from "../audit/audit-log.ts";
import { systemClock } from "../clock.ts";
import { createDecoderCompiler } from "../decoding/compiler.ts";
import { createDescriptorChecks } from "../decoding/descriptor-checks.ts";
import { createDescriptorJudge } from "../decoding/descriptor-judge.ts";
import { DefinitionStore } from "../definitions/definition-store.ts";
import { BUILTIN_SUBJECTS } from "../descriptors/builtin.ts";
import { DescriptorCatalog } from "../descriptors/catalog.ts";
import { DescriptorService } from "../descriptors/descriptor-service.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { VerdictDependencies } from "../fleet/verdicts.ts";
import type { SourceChanges } from "../ports/control-plane.ts";
import type { DescriptorJudge } from "../ports/descriptor-checks.ts";
import type { KvPlane } from "../ports/kv-plane.ts";

/** What decides how records are decoded, shared by all that need it. */
export interface DecodingParts {
  readonly catalog: DescriptorCatalog;
  readonly judge: DescriptorJudge;
  readonly verdicts: VerdictDependencies;
  readonly definitions: DefinitionStore;
}

/** Makes catalog, judge and definitions; nothing is read, and no thread begun. */
export function wireDecoding(plane: KvPlane): DecodingParts {
  const checks = createDescriptorChecks();
  const catalog = new DescriptorCatalog(plane.control, (files) => checks.digest(files));
  const verdicts: VerdictDependencies = {
    control: plane.control,
    compiler: createDecoderCompiler(),
    kinds,
    descriptor: (subject, version) => catalog.get(subject, version),
  };
  const definitions = new DefinitionStore(verdicts, { catalog, kinds, builtinSubjects: BUILTIN_SUBJECTS });
  return { catalog, judge: createDescriptorJudge(systemClock), verdicts, definitions };
}

/** Makes the registry of descriptors and its operations on sources. */
export function wireDescriptors(
  { catalog, judge, definitions }: DecodingParts,
  plane: KvPlane,
  fleet: Fleet,
  sources: SourceChanges,
  audit: AuditLog,
): DescriptorService {
  return new DescriptorService({
    catalog,
    judge,
    audit,
    fleet,
    sources,
    control: plane.control,
    clock: systemClock,
    definitions: async () => (await definitions.list()).map(({ definition }) => definition),
  });
}
