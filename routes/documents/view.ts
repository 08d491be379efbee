import type { DocumentView } from "../../src/ports/documents.ts";
import { provenanceBody } from "../schema/provenance.ts";
import { timeText } from "../schema/values.ts";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Writes a document as the API spells it. A JSON body goes in verbatim: parsed and written again, numbers could lose digits.
 * It is checked first, because one that is not JSON would make the whole answer unreadable.
 * @throws Error when the stored body is not the JSON that it should be: a fault of ours
 */
export function documentText(document: DocumentView): Buffer {
  const { namespace, id, body, provenance, asOf } = document;
  const head = `{"namespace":${JSON.stringify(namespace)},"id":${JSON.stringify(id)},"body":${bodyText(body)}`;
  const tail = `,"provenance":${JSON.stringify(provenanceBody(provenance))},"asOf":${JSON.stringify(timeText(asOf))}}`;
  return Buffer.from(head + tail);
}

function bodyText(body: DocumentView["body"]): string {
  if (body.format !== "json")
    return JSON.stringify({ format: body.format, base64: Buffer.from(body.bytes).toString("base64") });
  const value = strict.decode(body.bytes);
  assertJson(value);
  return `{"format":"json","value":${value}}`;
}

function assertJson(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    // Without the parser's message, which quotes the document.
    throw new Error("a stored document that should be JSON is not");
  }
}
