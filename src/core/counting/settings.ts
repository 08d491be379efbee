/** What decides the shape of slots beside the code: part of the revision, because slots of other shapes do not add up. */
export interface CountingSettings {
  /** Width of a traffic slot in milliseconds. */
  readonly slotWidthMs: number;
  /** Whether traffic counts distinct visitors. */
  readonly visitors: boolean;
  /** Inner edges of the score buckets, ascending, between 0 and 1: n edges make n + 1 buckets, each from its edge on. */
  readonly scoreEdges: readonly number[];
}

/** What is in force where a source says nothing. */
export const DEFAULT_COUNTING: CountingSettings = {
  slotWidthMs: 3_600_000,
  visitors: true,
  // Ads are clicked rarely: most scores are small, and the buckets with them.
  scoreEdges: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
};

/** An hour of the rollup by hour, in milliseconds. */
export const HOUR_MS = 3_600_000;

/** Narrowest slot: a minute. */
export const SLOT_WIDTH_MIN_MS = 60_000;
/** Widest slot: a day. */
export const SLOT_WIDTH_MAX_MS = 86_400_000;
/** Most edges of score buckets. */
export const SCORE_EDGES_MAX = 100;

/** What is wrong with settings; undefined when nothing is. A slot must not straddle days, so its width divides one. */
export function settingsFault({ slotWidthMs, scoreEdges }: CountingSettings): string | undefined {
  const fits = slotWidthMs >= SLOT_WIDTH_MIN_MS && slotWidthMs <= SLOT_WIDTH_MAX_MS;
  if (!Number.isInteger(slotWidthMs) || !fits || SLOT_WIDTH_MAX_MS % slotWidthMs !== 0) {
    return `a slot width of ${slotWidthMs} ms is no whole part of a day, from a minute on`;
  }
  if (scoreEdges.length > SCORE_EDGES_MAX) return `${scoreEdges.length} score edges are more than ${SCORE_EDGES_MAX}`;
  const wrong = scoreEdges.some((edge, index) => !(edge > (scoreEdges[index - 1] ?? 0) && edge < 1));
  return wrong ? "score edges do not ascend between 0 and 1" : undefined;
}

/** Scores are summed as integers of a billionth, so that equal offset means equal bytes. */
export const SCORE_SCALE = 1_000_000_000;

/** How far ahead of the record's broker timestamp its own time may be. A constant of the verdict rules. */
export const TIME_AHEAD_MAX_MS = 600_000;
