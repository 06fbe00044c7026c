/** Builds compressed OpenAPI documents. This module is loaded when the first document is requested. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { JsonObject, Resource, Schema } from '@podwright/kube-schema';
import { describeKinds } from './descriptions/descriptions.ts';
import { documentV2 } from './document-v2.ts';
import { documentV3 } from './document-v3.ts';
import { encodeGnosticV2 } from './gnostic-v2.ts';
import { mergedV2 } from './merge-v2.ts';

const compress = promisify(gzip);

export type DocumentForm = 'v2 json' | 'v2 protobuf' | 'v3 json';

type BuildOptions = {
  form: DocumentForm;
  /** The API server's version, which becomes the document's version. */
  version: string;
  /** Parts of extension API servers' documents to merge into an OpenAPI v2 document. Default: none. */
  others?: readonly JsonObject[] | undefined;
};

/** Builds a document and compresses it with gzip. */
export async function buildDocument(
  schema: Schema,
  resources: readonly Resource[],
  { form, version, others = [] }: BuildOptions,
): Promise<Uint8Array> {
  const info = { version, describe: describeKinds() };
  if (form === 'v3 json') return compress(JSON.stringify(documentV3(schema, resources, info)));
  const own = documentV2(schema, resources, info);
  const document = mergedV2(own, others);
  if (form === 'v2 json') return compress(JSON.stringify(document));
  return compress(encoded(document) ?? encodeGnosticV2(own));
}

/** Encodes a merged document. Returns `undefined` if the part of an extension API server's document is invalid. */
function encoded(document: JsonObject): Uint8Array | undefined {
  try {
    return encodeGnosticV2(document);
  } catch {
    return undefined;
  }
}
