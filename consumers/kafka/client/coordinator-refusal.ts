import type { Broker, Cluster } from "kafkajs";

type Group = Parameters<Cluster["findGroupCoordinatorMetadata"]>[0];

interface CanFindCoordinator {
  findGroupCoordinator(group: Group): Promise<unknown>;
}

/**
 * Lets a cluster say why a group has no coordinator. kafkajs asks every broker, drops what each answers and throws that
 * none was found, which looks like a cluster that starts up even when the group is forbidden.
 */
export function keepCoordinatorRefusal(cluster: Cluster): void {
  const find = cluster.findGroupCoordinatorMetadata.bind(cluster);
  cluster.findGroupCoordinatorMetadata = async (group) => {
    try {
      return await find(group);
    } catch (error) {
      throw (await refusalOf(cluster, group)) ?? error;
    }
  };
}

/** What the first broker that can be reached answers; undefined when it knows a coordinator by now, or none is there. */
async function refusalOf(cluster: Cluster, group: Group): Promise<unknown> {
  for (const nodeId of cluster.getNodeIds()) {
    const broker = await cluster.findBroker({ nodeId: String(nodeId) }).catch(() => undefined);
    if (broker === undefined || !canFindCoordinator(broker)) continue;
    return broker.findGroupCoordinator(group).then(
      () => undefined,
      (error: unknown) => error,
    );
  }
  return undefined;
}

/** kafkajs has the request, its types do not. */
function canFindCoordinator(broker: Broker): broker is Broker & CanFindCoordinator {
  return "findGroupCoordinator" in broker && typeof broker.findGroupCoordinator === "function";
}
