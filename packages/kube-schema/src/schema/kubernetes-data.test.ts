/** Runs only if PODWRIGHT_KUBERNETES_DATA names a directory with Kubernetes' `schema.json`, `resources.json` and `protobuf.json`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { schemaData } from '../../../../scripts/kube-schema/schema-data.ts';
import { COMPRESSED } from '../gen/kubernetes.js';

const directory = process.env.PODWRIGHT_KUBERNETES_DATA;

if (directory !== undefined)
  test('the committed data matches its generator’s output for the Kubernetes sources', () => {
    const committed = brotliDecompressSync(Buffer.from(COMPRESSED, 'base64')).toString();
    assert.deepEqual(JSON.parse(committed), JSON.parse(schemaData(directory)));
  });

test('the committed data is small', () => {
  assert.ok(COMPRESSED.length < 40_000, `${COMPRESSED.length} bytes`);
});
