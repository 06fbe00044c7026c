import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMetadataPatch } from './metadata-patch.ts';

test('a patch that changes nothing is one, as kubectl sends it for a label that is there already', () => {
  assert.deepEqual(parseMetadataPatch('{}'), {});
  assert.deepEqual(parseMetadataPatch('{"metadata":{}}'), {});
  assert.throws(() => parseMetadataPatch('{"metadata":null}'), /metadata: must be a map$/);
});
