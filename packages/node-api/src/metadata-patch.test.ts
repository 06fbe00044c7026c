import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepPatch, parseMetadataPatch, patchMetadata, showsPatch } from './metadata-patch.ts';

test('a patch that changes nothing is one, as kubectl sends it for a label that is there already', () => {
  assert.deepEqual(parseMetadataPatch('{}'), {});
  assert.deepEqual(parseMetadataPatch('{"metadata":{}}'), {});
  assert.throws(() => parseMetadataPatch('{"metadata":null}'), /metadata: must be a map$/);
});

test('a label that has the name of what every object has is one like any other', () => {
  const metadata = { name: 'a', namespace: 'default', uid: '1', labels: { constructor: 'b' } };
  assert.ok(showsPatch(metadata, { labels: { toString: null, constructor: 'b' } }));
  assert.ok(!showsPatch(metadata, { labels: { toString: 'c' } }));
  assert.ok(!showsPatch(metadata, { labels: { constructor: null } }));
});

test('a manifest that is applied again after a patch of annotations alone has not changed', () => {
  const manifest = { name: 'a', namespace: 'default', uid: '' };
  const patched = patchMetadata(manifest, { annotations: { 'example.com/a': 'b' } });
  assert.deepEqual(keepPatch(manifest, patched), patched);
});
