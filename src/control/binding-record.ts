import type { Binding } from "../core/topic/binding.ts";
import type { BindingRecord } from "./records.ts";

/** A binding as its record: the record's schema speaks of mutable arrays. */
export function bindingRecord(binding: Binding): BindingRecord {
  const { epochs, goOnAt, opened, past, ...rest } = binding;
  return {
    ...rest,
    epochs: copyOf(epochs),
    ...(goOnAt === undefined ? {} : { goOnAt: [...goOnAt] }),
    ...(opened === undefined ? {} : { opened: { ...opened, givenUp: opened.givenUp.map((range) => ({ ...range })) } }),
    ...(past === undefined ? {} : { past: past.map((entry) => ({ ...entry, epochs: copyOf(entry.epochs) })) }),
  };
}

function copyOf(epochs: Binding["epochs"]): { epoch: number; partitions: number }[] {
  return epochs.map((entry) => ({ ...entry }));
}
