import { expect, it } from "vitest";
import { type LiveLag, LivePressure } from "../../../src/core/job/live-pressure.ts";

const known = (value: number) => ({ known: true, value }) as const;
const unknown = { known: false } as const;

function lag(records: number, seconds: number, timeToLoss?: number): readonly LiveLag[] {
  const timeToLossSeconds = timeToLoss === undefined ? unknown : known(timeToLoss);
  return [{ partition: 2, records: known(records), seconds: known(seconds), timeToLossSeconds }];
}

/** What is said of each measurement; they are 5 s apart. */
function causes(...lags: readonly (readonly LiveLag[])[]): readonly (string | undefined)[] {
  const pressure = new LivePressure();
  return lags.map((one, index) => pressure.look(one, index * 5_000));
}

it("makes a job yield while live lag grows beyond what is tolerated, and go on when it falls", () => {
  expect(causes(lag(100, 20), lag(200, 25), lag(150, 22))).toEqual([undefined, "partition 2 falls behind", undefined]);
  expect(causes(lag(100, 1), lag(200, 2))).toEqual([undefined, undefined]);
});

it("makes a job yield while retention comes nearer, where it is near, and go on when it does not", () => {
  expect(causes(lag(9, 1, 900), lag(9, 1, 800), lag(9, 1, 800))).toEqual([
    undefined,
    "retention comes nearer to what partition 2 has not read",
    undefined,
  ]);
  expect(causes(lag(9, 1, 90_000), lag(9, 1, 80_000))).toEqual([undefined, undefined]);
});

it("says nothing of what is not known", () => {
  const nothing = [{ partition: 2, records: unknown, seconds: unknown, timeToLossSeconds: unknown }];
  expect(causes(lag(1, 60, 100), nothing, lag(9, 60, 50))).toEqual([undefined, undefined, undefined]);
});
