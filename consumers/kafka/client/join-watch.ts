import type { Cluster } from "kafkajs";

interface Pool {
  send(request: unknown): Promise<unknown>;
}

/**
 * Tells the member id that a join was given, before the join is over. A broker answers the first request of a new member with
 * its id (KIP-394), kafkajs sends a second one with it and keeps the id to itself until that is answered: when the group is
 * complete, which may take as long as its slowest member. If the connection is cut meanwhile, the id is the only way to leave
 * the group for a member that nobody is any more and that everybody would wait for.
 */
export function watchJoins(cluster: Cluster, given: (memberId: string) => void): void {
  const watched = new WeakSet<object>();
  const find = cluster.findGroupCoordinator.bind(cluster);
  cluster.findGroupCoordinator = async (group) => {
    const coordinator = await find(group);
    const pool = poolOf(coordinator);
    if (pool !== undefined && !watched.has(pool)) {
      watched.add(pool);
      watchPool(pool, given);
    }
    return coordinator;
  };
}

function watchPool(pool: Pool, given: (memberId: string) => void): void {
  const send = pool.send.bind(pool);
  pool.send = async (request) => {
    try {
      return await send(request);
    } catch (error) {
      const memberId = memberIdOf(error);
      if (memberId !== undefined) given(memberId);
      throw error;
    }
  };
}

function memberIdOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== "KafkaJSMemberIdRequired") return undefined;
  return "memberId" in error && typeof error.memberId === "string" ? error.memberId : undefined;
}

/** kafkajs' types hide it; its version is pinned. */
function poolOf(coordinator: object): Pool | undefined {
  const pool = "connectionPool" in coordinator ? coordinator.connectionPool : undefined;
  return isPool(pool) ? pool : undefined;
}

function isPool(value: unknown): value is Pool {
  return typeof value === "object" && value !== null && "send" in value && typeof value.send === "function";
}
