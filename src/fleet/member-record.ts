import { MemberRecord, recordNames } from "../control/records.ts";
import { readRecord, updateRecord } from "../control/json-record.ts";
import type { ControlStore } from "../ports/kv-plane.ts";

/**
 * The member id that this deployment's last process had in a source's group. After a SIGKILL the group waits a whole
 * session for the dead member; a process that holds the deployment's data lock knows that its predecessor is dead and may
 * leave the group for it. @throws KvFault
 */
export async function predecessorOf(control: ControlStore, source: string): Promise<string | undefined> {
  return (await readRecord(control, recordNames.member(source), MemberRecord))?.value.memberId;
}

/** Keeps the member id of this process for its successor. @throws KvFault */
export async function recordMember(control: ControlStore, source: string, memberId: string): Promise<void> {
  await updateRecord(control, recordNames.member(source), MemberRecord, (present) =>
    present?.memberId === memberId ? present : { memberId },
  );
}
