import { openFolder } from "../../local/broker/kafka-folder.ts";
import { freePorts } from "../../local/broker/ports.ts";
import { startCustomBroker, type RunningBroker } from "./custom-broker.ts";
import { TcpProxy } from "./tcp-proxy.ts";

/** A broker whose clients all come through a proxy; `admin` goes around it. */
export interface ProxiedBroker extends RunningBroker {
  readonly proxy: TcpProxy;
}

/**
 * Starts an Apache Kafka behind a proxy that forwards until it is told otherwise. It creates any topic that a client asks
 * for, unless the client says no. Needs Java.
 */
export async function startProxiedBroker(): Promise<ProxiedBroker> {
  const [port = 0, proxyPort = 0] = await freePorts(2);
  const broker = await startCustomBroker({
    folder: await openFolder(undefined),
    listeners: [{ name: "PROXIED", protocol: "PLAINTEXT", port, advertisedPort: proxyPort }],
    settings: { "auto.create.topics.enable": "true" },
  });
  const proxy = await new TcpProxy(proxyPort, port).open();
  const stop = async (): Promise<void> => {
    await proxy.close();
    await broker.stop();
  };
  return { admin: broker.admin, proxy, stop };
}
