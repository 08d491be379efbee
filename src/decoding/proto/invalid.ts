import { StreamsError } from "../../errors.ts";

/** Builds the error that a faulty descriptor is refused with. */
export function descriptorInvalid(detail: string): StreamsError {
  return new StreamsError("DESCRIPTOR_INVALID", detail);
}
