import { parentPort } from "node:worker_threads";
import { StreamsError } from "../errors.ts";
import { judge } from "./judge-calls.ts";
import type { JudgeAnswer, JudgeCall } from "./judge-calls.ts";

/** The thread in which descriptors are compiled and compared: one call, one answer, in order. */
parentPort?.on("message", (call: JudgeCall) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(answerTo(call));
});

function answerTo(call: JudgeCall): JudgeAnswer {
  try {
    return judge(call);
  } catch (error) {
    if (error instanceof StreamsError && error.code === "DESCRIPTOR_INVALID") {
      return { answer: "invalid", detail: error.message };
    }
    throw error;
  }
}
