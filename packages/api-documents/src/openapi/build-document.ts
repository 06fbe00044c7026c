/** Builds OpenAPI documents in compressed form. This module is loaded on the first request for a document. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Resource, Schema } from '@podwright/kube-schema';
import { describeKinds } from './descriptions/descriptions.ts';
import { documentV2 } from './document-v2.ts';
import { documentV3 } from './document-v3.ts';
import { encodeGnosticV2 } from './gnostic-v2.ts';

const compress = promisify(gzip);

export type DocumentForm = 'v2 json' | 'v2 protobuf' | 'v3 json';

/** Builds a document and compresses it with gzip. `version`: the server's version. */
export async function buildDocument(
  schema: Schema,
  resources: readonly Resource[],
  { form, version }: { form: DocumentForm; version: string },
): Promise<Uint8Array> {
  const info = { version, describe: describeKinds() };
  if (form === 'v3 json') return compress(JSON.stringify(documentV3(schema, resources, info)));
  const document = documentV2(schema, resources, info);
  return compress(form === 'v2 json' ? JSON.stringify(document) : encodeGnosticV2(document));
}
