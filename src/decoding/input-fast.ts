import type { InputValue } from "../ports/decoder.ts";
import { CELL, CELL_HIGH, CELL_STATE } from "./input-cells.ts";
import type { InputAction, InputCell, InputNode, InputPlan } from "./input-plan.ts";
import { integerOf } from "./input-values.ts";
import { WIRE_BYTES, WIRE_FIXED32, WIRE_FIXED64, WIRE_VARINT } from "./schema.ts";
import { asciiText } from "./text.ts";
import { isTimestamp, timeFromMilliseconds, timeFromTimestamp } from "./time.ts";

/**
 * Straight-line readers, made as source text for one plan. They know plain records only: known fields with their declared
 * wire types, ASCII text, varints of up to five bytes, times in range. At anything else they give up, and the record is read
 * from its start by `InputReader`, which alone gives verdicts and counts unknown fields: these only save time. Nothing of a
 * descriptor enters the source but numbers.
 */
export interface FastInputs {
  /** The inputs' values, or undefined where the record is not plain. */
  values(bytes: Uint8Array, from: number): InputValue[] | undefined;
  /** Fills an `InputReader`'s cells with low and high bits (or start and end) and state. Returns whether the record is plain. */
  fill(bytes: Uint8Array, from: number, cells: Int32Array): boolean;
}

/** Makes the readers of a plan; undefined where the engine is told not to compile source text. */
export function fastInputs(plan: InputPlan): FastInputs | undefined {
  try {
    return { values: compileValues(plan), fill: compileFill(plan) };
  } catch {
    return undefined;
  }
}

const helpers = {
  asciiText,
  integerOf,
  isTimestamp,
  timeFromMilliseconds,
  timeFromTimestamp,
  view: new DataView(new ArrayBuffer(8)),
};

/* oxlint-disable typescript/no-implied-eval, typescript/no-unsafe-type-assertion --
   The source holds numbers and this file's own text, nothing else; its shape is what the template above it says. */

function compileValues(plan: InputPlan): FastInputs["values"] {
  const values = plan.inputs.map((input, cell) => `s${cell} !== 0 ? ${valueOf(plan, input, cell)} : undefined`);
  const body = `${reading(plan, "undefined")} return [${values.join(", ")}];`;
  const make = new Function("helpers", `${head()} return (b, from) => { ${body} };`) as Make<FastInputs["values"]>;
  return make(helpers);
}

function compileFill(plan: InputPlan): FastInputs["fill"] {
  const stores = cellsOf(plan).map((cell) => {
    const at = cell * CELL;
    return `c[${at}] = l${cell}; c[${at + CELL_HIGH}] = h${cell}; c[${at + CELL_STATE}] = s${cell};`;
  });
  const body = `${reading(plan, "false")} ${stores.join(" ")} return true;`;
  const make = new Function("helpers", `${head()} return (b, from, c) => { ${body} };`) as Make<FastInputs["fill"]>;
  return make(helpers);
}

/* oxlint-enable typescript/no-implied-eval, typescript/no-unsafe-type-assertion */

type Make<T> = (given: typeof helpers) => T;

function head(): string {
  return `"use strict"; const { ${Object.keys(helpers).join(", ")} } = helpers;`;
}

/** Cells that hold something: all but the waste. */
function cellsOf(plan: InputPlan): readonly number[] {
  return Array.from({ length: plan.cells - 1 }, (_, cell) => cell);
}

/** Reads the record into variables: low, high and state of each cell. `p` is the position, `x` a byte, `n` a length. */
function reading(plan: InputPlan, giveUp: string): string {
  const variables = cellsOf(plan).map((cell) => `l${cell} = 0, h${cell} = 0, s${cell} = 0`);
  const declared = ["p = from", "x = 0", "n = 0", "q = 0", ...variables].join(", ");
  const checks = plan.inputs.map((input, cell) => check(plan, input, cell));
  return `let ${declared}; const e0 = b.length; ${loop(plan, plan.root, 0)} ${checks.join(" ")}`.replaceAll(
    "GIVE_UP",
    `return ${giveUp}`,
  );
}

function loop(plan: InputPlan, node: InputNode, depth: number): string {
  const actions = [...node.low, ...node.high.values()].filter((action) => action !== undefined);
  const cases = actions.flatMap((action) => {
    const tag = action.number * 8 + action.wireType;
    return action.rare || tag >= 0x4000 ? [] : [`case ${tag}: { ${reader(plan, action, depth)} break; }`];
  });
  const end = `e${depth}`;
  return `while (p < ${end}) {
    x = b[p++];
    if (x > 127) { if (p >= ${end}) GIVE_UP; n = b[p++]; if (n > 127) GIVE_UP; x = (x & 127) | (n << 7); }
    switch (x) { ${cases.join(" ")} default: GIVE_UP; }
  }`;
}

function reader(plan: InputPlan, action: InputAction, depth: number): string {
  const { cell, child, wireType } = action;
  const end = `e${depth}`;
  const needed = cell !== plan.waste;
  switch (wireType) {
    case WIRE_VARINT:
      return needed ? varint(cell, end) : skippedVarint(end);
    case WIRE_FIXED64:
      return `${room(8, end)} ${needed ? `l${cell} = ${word(0)}; h${cell} = ${word(4)}; s${cell} = 1;` : ""} p += 8;`;
    case WIRE_FIXED32:
      return `${room(4, end)} ${needed ? `l${cell} = ${word(0)}; s${cell} = 1;` : ""} p += 4;`;
    case WIRE_BYTES:
      if (child === undefined) return `${length(end)} ${needed ? bytes(action) : "p += n;"}`;
      return `${length(end)} ${needed ? `s${cell} = 1;` : ""} const e${depth + 1} = p + n; ${loop(plan, child, depth + 1)}`;
    default:
      return "GIVE_UP;";
  }
}

function varint(cell: number, end: string): string {
  return `if (p >= ${end}) GIVE_UP; x = b[p++]; l${cell} = x & 127; h${cell} = 0; s${cell} = 1;
    for (q = 7; x > 127; q += 7) {
      if (p >= ${end} || q > 28) GIVE_UP;
      x = b[p++];
      l${cell} |= (x & 127) << q;
      if (q === 28) h${cell} = (x & 127) >>> 4;
    }`;
}

function skippedVarint(end: string): string {
  return `q = 0; do { if (p >= ${end} || q === 5) GIVE_UP; x = b[p++]; q += 1; } while (x > 127);`;
}

function room(count: number, end: string): string {
  return `if (${end} - p < ${count}) GIVE_UP;`;
}

function word(at: number): string {
  const byte = (index: number): string => `b[p + ${at + index}]`;
  return `${byte(0)} | (${byte(1)} << 8) | (${byte(2)} << 16) | (${byte(3)} << 24)`;
}

/** Reads a length of up to two bytes into `n` and checks that so much is there. */
function length(end: string): string {
  return `if (p >= ${end}) GIVE_UP; n = b[p++];
    if (n > 127) { if (p >= ${end}) GIVE_UP; x = b[p++]; if (x > 127) GIVE_UP; n = (n & 127) | (x << 7); }
    if (p + n > ${end}) GIVE_UP;`;
}

function bytes({ cell, text }: InputAction): string {
  const ascii = text ? `x = 0; for (q = l${cell}; q < p; q += 1) x |= b[q]; if (x > 127) GIVE_UP;` : "";
  return `l${cell} = p; p += n; h${cell} = p; s${cell} = 1; ${ascii}`;
}

/** Gives up on a time out of range: the other reader says what is wrong with it. */
function check(plan: InputPlan, { becomes, milliseconds }: InputCell, cell: number): string {
  if (becomes === "timestamp") return `if (s${cell} !== 0 && !isTimestamp(${timeOf(plan, cell)})) GIVE_UP;`;
  if (!milliseconds) return "";
  return `if (s${cell} !== 0 && timeFromMilliseconds(${integer(becomes, cell)}) === undefined) GIVE_UP;`;
}

function integer(becomes: InputCell["becomes"], cell: number): string {
  return `integerOf("${becomes}", l${cell}, h${cell})`;
}

/** Arguments for a function of seconds and nanoseconds. */
function timeOf(plan: InputPlan, cell: number): string {
  return `h${cell} * 4294967296 + (l${cell} >>> 0), l${plan.inputs[cell]?.nanos ?? cell}`;
}

function valueOf(plan: InputPlan, { becomes, presence, milliseconds }: InputCell, cell: number): string {
  const low = `l${cell}`;
  const high = `h${cell}`;
  const unlessZero = (zero: string, value: string): string => (presence ? value : `${zero} ? undefined : ${value}`);
  switch (becomes) {
    case "text":
      return unlessZero(`${low} === ${high}`, `asciiText(b, ${low}, ${high})`);
    case "bytes":
      return unlessZero(`${low} === ${high}`, `b.subarray(${low}, ${high})`);
    case "timestamp":
      return `timeFromTimestamp(${timeOf(plan, cell)})`;
    case "flag":
      return unlessZero(`(${low} | ${high}) === 0`, `(${low} | ${high}) !== 0`);
    case "enum":
      return unlessZero(`${low} === 0`, low);
    case "double":
      return unlessZero(
        `(${low} | ${high}) === 0`,
        `(view.setInt32(0, ${low}, true), view.setInt32(4, ${high}, true), view.getFloat64(0, true))`,
      );
    case "float":
      return unlessZero(`${low} === 0`, `(view.setInt32(0, ${low}, true), view.getFloat32(0, true))`);
    default: {
      const zero = becomes.endsWith("32") ? `${low} === 0` : `(${low} | ${high}) === 0`;
      const value = integer(becomes, cell);
      return unlessZero(zero, milliseconds ? `timeFromMilliseconds(${value})` : value);
    }
  }
}
