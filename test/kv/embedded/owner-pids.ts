import { readFileSync, readdirSync } from "node:fs";

/** Pids of the owners' processes of `directory` that `parent` has started and that are not dead. */
export function ownerPids(directory: string, parent: number = process.pid): readonly number[] {
  return childrenOf(parent).filter((pid) => isOwnerOf(pid, directory));
}

/** Whether a process runs; one that is dead and not collected does not. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Anonymous memory of a process, in bytes; 0 when it is gone. */
export function anonymousBytes(pid: number): number {
  try {
    const [, kib] = /^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kib ?? 0) * 1024;
  } catch {
    return 0;
  }
}

function childrenOf(parent: number): number[] {
  const tasks = readdirSync(`/proc/${parent}/task`);
  return tasks.flatMap((task) => childrenOfTask(`/proc/${parent}/task/${task}`));
}

function childrenOfTask(task: string): number[] {
  try {
    const pids = readFileSync(`${task}/children`, "utf8").split(" ");
    return pids.filter((pid) => pid !== "").map(Number);
  } catch {
    // A thread that has ended meanwhile.
    return [];
  }
}

function isOwnerOf(pid: number, directory: string): boolean {
  try {
    const setup = `"directory":${JSON.stringify(directory)}`;
    return isRunning(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(setup);
  } catch {
    return false;
  }
}
