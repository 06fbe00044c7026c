import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStatusPatch } from './status-patch.ts';

test('a merge patch replaces all conditions, even with an empty list', () => {
  const replaces = (conditions: unknown, kind: 'merge' | 'strategic' = 'merge') =>
    parseStatusPatch(JSON.stringify({ status: { conditions } }), kind).replace;
  const open = [{ type: 'example.com/open', status: 'True' }];
  assert.deepEqual([replaces(open), replaces([]), replaces(null), replaces(undefined)], [true, true, true, false]);
  assert.equal(replaces(open, 'strategic'), false);
});
