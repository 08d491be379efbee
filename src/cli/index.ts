export { EXIT, runCli } from "./run.ts";
export { packageVersion, processInputs } from "./process-inputs.ts";
export type { CliInputs } from "./inputs.ts";
