import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepPatch, parseMetadataPatch, patchMetadata, showsPatch } from './metadata-patch.ts';

test('an empty patch is valid: kubectl sends one for a label that is already set', () => {
  assert.deepEqual(parseMetadataPatch('{}'), {});
  assert.deepEqual(parseMetadataPatch('{"metadata":{}}'), {});
  assert.throws(() => parseMetadataPatch('{"metadata":null}'), /metadata: must be a map$/);
});

test('a label may be named like a property of every JavaScript object', () => {
  const metadata = { name: 'a', namespace: 'default', uid: '1', labels: { constructor: 'b' } };
  assert.ok(showsPatch(metadata, { labels: { toString: null, constructor: 'b' } }));
  assert.ok(!showsPatch(metadata, { labels: { toString: 'c' } }));
  assert.ok(!showsPatch(metadata, { labels: { constructor: null } }));
});

test('applying a manifest again after a patch of only annotations changes nothing', () => {
  const manifest = { name: 'a', namespace: 'default', uid: '' };
  const patched = patchMetadata(manifest, { annotations: { 'example.com/a': 'b' } });
  assert.deepEqual(keepPatch(manifest, patched), patched);
});
