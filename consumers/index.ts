import type { KindName } from "../src/core/source.ts";
import type { Kind } from "../src/ports/kind.ts";
import { adActions } from "./ad-actions.ts";
import { campaigns } from "./campaigns.ts";
import { dials } from "./dials.ts";
import { documents } from "./documents.ts";
import { traffic } from "./traffic.ts";

/** The kinds that this build can run, by name. A further kind is one file and one line here. */
export const kinds: ReadonlyMap<KindName, Kind> = new Map<KindName, Kind>(
  [documents, campaigns, dials, traffic, adActions].map((kind) => [kind.name, kind]),
);
