import type { App, RouteContext } from "../app.ts";
import { getDocument } from "./get-document.ts";
import { getDocumentByKey } from "./get-document-by-key.ts";

/** Registers `/v1/documents/…`. */
export function registerDocuments(app: App, context: RouteContext): void {
  getDocument(app, context);
  getDocumentByKey(app, context);
}
