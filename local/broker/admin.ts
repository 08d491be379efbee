import { Kafka, logLevel } from "kafkajs";
import type { Admin } from "kafkajs";

/**
 * Runs `task` with a connected kafkajs admin client and disconnects it afterwards. The client is silent and tries a
 * request again twice at most, so that callers decide how long to wait.
 *
 * @throws what kafkajs or `task` throws.
 */
export async function withAdmin<T>(brokers: readonly string[], task: (admin: Admin) => Promise<T>): Promise<T> {
  const kafka = new Kafka({
    clientId: "ysearch-local",
    brokers: [...brokers],
    logLevel: logLevel.NOTHING,
    connectionTimeout: 3_000,
    requestTimeout: 15_000,
    retry: { retries: 2, initialRetryTime: 100 },
  });
  const admin = kafka.admin();
  await admin.connect();
  try {
    return await task(admin);
  } finally {
    await admin.disconnect();
  }
}
