import { setTimeout as delay } from "node:timers/promises";
import type { ServiceProcess } from "../../local/service/service-process.ts";

/** What a source's lag was while it was watched. */
export interface LagWatch {
  readonly secondsMax: number;
  readonly recordsMax: number;
  /** Answers in which a partition's lag was not known. */
  readonly unknown: number;
  readonly answers: number;
}

interface Measure {
  readonly known: boolean;
  readonly value?: number;
}

const TURN_MS = 250;

/** Asks for the lag of a source until `ended`; what is not known is counted and left out of the rest. */
export async function watchLag(service: ServiceProcess, source: string, ended: () => boolean): Promise<LagWatch> {
  let [secondsMax, recordsMax, unknown, answers] = [0, 0, 0, 0];
  while (!ended()) {
    const { body } = await service.get(`/v1/sources/${source}/lag`);
    const { partitions } = body as {
      readonly partitions: readonly { readonly records: Measure; readonly seconds: Measure }[];
    };
    answers += 1;
    for (const { records, seconds } of partitions) {
      if (!records.known || !seconds.known) unknown += 1;
      recordsMax = Math.max(recordsMax, records.value ?? 0);
      secondsMax = Math.max(secondsMax, seconds.value ?? 0);
    }
    await delay(TURN_MS);
  }
  return { secondsMax, recordsMax, unknown, answers };
}
