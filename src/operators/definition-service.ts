import type { AuditLog } from "../audit/audit-log.ts";
import type { SourceDefinition, SourceSeed } from "../core/source.ts";
import { differences } from "../definitions/resolve.ts";
import type { DefinitionView, SourceChanges, SourceQueries } from "../ports/control-plane.ts";
import type { DefinitionCommands } from "../ports/operators.ts";

/** Changes of definitions, each with its entry in the audit log. */
export class DefinitionService implements DefinitionCommands {
  readonly #sources: SourceChanges & Pick<SourceQueries, "definition">;
  readonly #audit: AuditLog;

  constructor(sources: SourceChanges & Pick<SourceQueries, "definition">, audit: AuditLog) {
    this.#sources = sources;
    this.#audit = audit;
  }

  async define(name: string, definition: SourceDefinition, ifMatch: string, actor: string): Promise<DefinitionView> {
    const changed = differences(this.#sources.definition(name).definition, definition);
    const detail = changed.length === 0 ? "changes nothing" : `changes ${changed.join(", ")}`;
    const call = { actor, reason: "", action: "change-definition", source: name, partition: null, detail } as const;
    return this.#audit.around(call, async (id) => {
      const view = await this.#sources.define(name, definition, ifMatch);
      await this.#audit.finish(id, []);
      return view;
    });
  }

  async create(seed: SourceSeed, actor: string): Promise<DefinitionView> {
    const detail = `topic ${seed.topic}, namespace ${seed.namespace}`;
    const call = { actor, reason: "", action: "create-source", source: seed.name, partition: null, detail } as const;
    return this.#audit.around(call, async (id) => {
      const view = await this.#sources.create(seed);
      await this.#audit.finish(id, []);
      return view;
    });
  }
}
