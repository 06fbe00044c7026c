import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoredObject } from '@podwright/api-machinery';
import { Schema } from '@podwright/kube-schema';
import { parse } from 'yaml';
import { encodeList, listValue } from './encode-response.ts';
import { encodeValue } from './encode-value.ts';
import type { OutputFormat } from './negotiation.ts';
import type { ResourceEncoding } from './response-content.ts';

const schema = await Schema.load();
const TEXTS = [
  'two\nlines\n\n',
  '# no comment',
  'a: b',
  '\u007f\u0085\u2028\ufeff',
  '- x',
  '',
  ' ',
  'x'.repeat(40_000),
];

const objects = Array.from({ length: 300 }, (_, index) =>
  StoredObject.encode(`x/c${index}`, index + 1, {
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    metadata: { name: `c${index}`, namespace: 'x', annotations: { a: 'x'.repeat(700) } },
    data: { text: TEXTS[index % TEXTS.length]!, other: 'y'.repeat(index) },
  }),
);
const page = { revision: 999, objects, continue: 'token', remainingItemCount: 3 };

const METADATA = { kind: 'PartialObjectMetadataList', version: 'v1' } as const;
const FORMATS: OutputFormat[] = [
  { mediaType: 'application/json', isPretty: true },
  { mediaType: 'application/json', isPretty: false, convertTo: { kind: 'Table', version: 'v1' } },
  { mediaType: 'application/json', isPretty: true, convertTo: { kind: 'Table', version: 'v1' } },
  { mediaType: 'application/json', isPretty: false, convertTo: METADATA },
  { mediaType: 'application/vnd.kubernetes.protobuf', isPretty: false },
  { mediaType: 'application/vnd.kubernetes.protobuf', isPretty: false, convertTo: METADATA },
  { mediaType: 'application/yaml', isPretty: false },
  { mediaType: 'application/yaml', isPretty: false, convertTo: { kind: 'Table', version: 'v1' } },
];

test('a long list encoded in slices is the same as one encoded at once', async () => {
  for (const format of FORMATS) {
    const encoding: ResourceEncoding = {
      ...{ schema, resource: { group: '', version: 'v1', kind: 'ConfigMap' }, nowMs: 0 },
      ...{ includeObject: 'Object', format },
    };
    const what = JSON.stringify(format);
    const body = await encodeList(page, encoding);
    assert.ok('slices' in body, what);
    const slices: Uint8Array[] = [];
    for await (const slice of body.slices) slices.push(slice);
    assert.ok(Math.max(...slices.map(({ length }) => length)) < 200_000, what);
    const sent = Buffer.concat(slices);
    const value = await listValue(page, format.convertTo, encoding);
    if (format.mediaType === 'application/yaml') assert.deepEqual(parse(sent.toString()), value, what);
    else assert.ok(sent.equals(Buffer.concat((await encodeValue(value, format, schema)).parts)), what);
  }
});

test('an unconvertible list is rejected before anything is sent', async () => {
  const convertTo = { kind: 'PartialObjectMetadata', version: 'v1' } as const;
  const encoding: ResourceEncoding = {
    ...{ schema, resource: { group: '', version: 'v1', kind: 'ConfigMap' }, nowMs: 0, includeObject: 'Object' },
    format: { mediaType: 'application/json', isPretty: false, convertTo },
  };
  await assert.rejects(encodeList(page, encoding), /you requested PartialObjectMetadata/);
});
