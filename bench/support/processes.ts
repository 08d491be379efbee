import { readdirSync, readFileSync } from "node:fs";

/** Ticks of a second in /proc/PID/stat: USER_HZ, 100 on every Linux that Node runs on. */
const TICKS = 100;
const MIB = 1024 * 1024;

/** A process and all that descend from it, now. */
export function familyOf(pid: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const child = Number(name);
    const parent = Number.isInteger(child) ? fieldsOf(child)?.[1] : undefined;
    if (parent === undefined) continue;
    children.set(Number(parent), [...(children.get(Number(parent)) ?? []), child]);
  }
  const family = [pid];
  for (const member of family) family.push(...(children.get(member) ?? []));
  return family;
}

/** Processor seconds that processes have used, those that have ended left out. */
export function cpuSeconds(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const fields = fieldsOf(pid);
    ticks += Number(fields?.[11] ?? 0) + Number(fields?.[12] ?? 0);
  }
  return ticks / TICKS;
}

/** Anonymous resident memory in MiB: what a process holds beside mapped files. 0 for one that has ended. */
export function rssAnonMiB(pid: number): number {
  try {
    const [, kib = "0"] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return (Number(kib) * 1024) / MIB;
  } catch {
    return 0;
  }
}

/** Load average of the last minute. */
export function loadAverage(): number {
  return Number(readFileSync("/proc/loadavg", "utf8").split(" ")[0]);
}

/** What follows the name in /proc/PID/stat: state, parent, …; undefined when the process is gone. */
function fieldsOf(pid: number): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}
