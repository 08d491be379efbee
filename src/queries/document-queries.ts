import { decodeDocumentCell } from "../core/cell.ts";
import { documentKey } from "../core/keys.ts";
import { originOf } from "../core/version.ts";
import { StreamsError } from "../errors.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { Clock } from "../ports/clock.ts";
import type { DialQueries, DocumentQueries, DocumentView, Provenance } from "../ports/documents.ts";
import { KvFault, type KvPlane } from "../ports/kv-plane.ts";
import { sourceOfKind } from "./source-of-kind.ts";

/** Reads single documents and dials at R, with where they came from. */
export class DocumentReader implements DocumentQueries, DialQueries {
  readonly #plane: KvPlane;
  readonly #fleet: Pick<Fleet, "sourceOf" | "services" | "phase">;
  readonly #clock: Clock;

  constructor(plane: KvPlane, fleet: Pick<Fleet, "sourceOf" | "services" | "phase">, clock: Clock) {
    this.#plane = plane;
    this.#fleet = fleet;
    this.#clock = clock;
  }

  async read(namespace: string, id: string): Promise<DocumentView> {
    const inForce = this.#fleet.sourceOf(namespace);
    if (inForce === undefined)
      throw new StreamsError("NAMESPACE_UNKNOWN", `no source writes to namespace ${namespace}`);
    return this.#read("document", inForce.definition.name, namespace, id);
  }

  async readDial(asked: string | undefined, id: string): Promise<DocumentView> {
    const { source, namespace } = sourceOfKind(this.#fleet, "dials", asked);
    return this.#read("dial", source, namespace, id);
  }

  async #read(space: "document" | "dial", source: string, namespace: string, id: string): Promise<DocumentView> {
    const stored = await this.#restore(space, namespace, id);
    if (stored === undefined) throw new StreamsError("DOCUMENT_UNKNOWN", "nothing is stored under this id");
    const cell = decodeDocumentCell(stored.bytes);
    const { topicEpoch, offset } = originOf(stored.order);
    const provenance: Provenance = {
      source,
      partition: cell.partition,
      offset,
      topicEpoch,
      revision: cell.revision,
      descriptorVersion: cell.descriptorVersion,
      timestampMs: cell.timestampMs,
    };
    if (cell.state === "deleted" || cell.bodyFormat === "none") {
      throw new StreamsError("DOCUMENT_DELETED", "the document was deleted", { provenance });
    }
    return { namespace, id, body: { format: cell.bodyFormat, bytes: cell.body }, provenance, asOf: this.#clock.now() };
  }

  async #restore(space: "document" | "dial", namespace: string, id: string) {
    try {
      const [stored] = await this.#plane.restore([{ space, key: documentKey(namespace, id) }]);
      return stored;
    } catch (error) {
      if (error instanceof KvFault) throw new StreamsError("KV_UNAVAILABLE", error.message, {}, { cause: error });
      throw error;
    }
  }
}
