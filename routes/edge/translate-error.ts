import type { FastifyError } from "fastify";
import { StreamsError } from "../../src/errors.ts";
import { KvFault } from "../../src/ports/kv-plane.ts";
import { SourceFault } from "../../src/ports/record-source.ts";
import { type Place, malformed } from "./refusals.ts";
import { refusalOf } from "./violations.ts";

type ValidationError = NonNullable<FastifyError["validation"]>[number];

const PLACES: Readonly<Record<string, Place>> = {
  body: "body",
  querystring: "query",
  params: "path",
  headers: "header",
};

/**
 * Turns whatever was thrown into a failure of the catalogue. Total: what is not known becomes INTERNAL, whose text says
 * nothing of the cause; the caller logs the cause under the request id.
 */
export function translateError(error: unknown): StreamsError {
  if (error instanceof StreamsError) return error;
  if (error instanceof KvFault) return new StreamsError("KV_UNAVAILABLE", kvText(error), {}, { cause: error });
  if (error instanceof SourceFault) {
    return new StreamsError("BROKER_UNAVAILABLE", `the broker's client answered ${error.code}`, {}, { cause: error });
  }
  if (!(error instanceof Error) || !("code" in error)) return internal(error);
  if ("validation" in error && Array.isArray(error.validation)) return validationError(error, error.validation);
  return frameworkError(error) ?? internal(error);
}

/** Too few owners: which are not up, and why. What an engine says beside that may name paths. */
function kvText({ code, message }: KvFault): string {
  return code === "KV_NO_QUORUM" ? message : `the KV plane answered ${code}`;
}

function internal(cause: unknown): StreamsError {
  return new StreamsError(
    "INTERNAL",
    "the request could not be answered; the log has the cause under this request id",
    {},
    { cause },
  );
}

function frameworkError(error: Error & { readonly code: unknown }): StreamsError | undefined {
  switch (error.code) {
    case "FST_ERR_BAD_URL":
      return malformed("address", "", "percent-encoding is broken or does not spell UTF-8");
    case "FST_ERR_MAX_PARAM_LENGTH":
      return new StreamsError("ADDRESS_TOO_LONG", "a part of the path is longer than 1,536 characters");
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new StreamsError("BODY_TOO_LARGE", "the body is larger than limits.requestBodyBytes");
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
    case "FST_ERR_CTP_EMPTY_TYPE":
      return new StreamsError("MEDIA_TYPE_UNSUPPORTED", "only application/json in UTF-8 is read");
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return malformed("header", "/content-length", "it differs from the body that arrived");
    case "FST_ERR_HANDLER_TIMEOUT":
      return new StreamsError("ANSWER_TIMEOUT", "no answer within the limit; whether a change was made is not known");
    default:
      return undefined;
  }
}

function validationError(
  error: Error & { readonly validationContext?: unknown },
  violations: readonly ValidationError[],
): StreamsError {
  return refusalOf(PLACES[String(error.validationContext)] ?? "body", violations) ?? internal(error);
}
