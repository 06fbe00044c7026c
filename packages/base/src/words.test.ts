import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counted, repeatedError, shownError } from './words.ts';

test('the noun is singular only for a count of one', () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => counted(count, 'pod')),
    ['0 pods', '1 pod', '2 pods'],
  );
  assert.equal(counted(2, 'entry', 'entries'), '2 entries');
});

test('IDs are shortened in errors shown to users, but digests are not', () => {
  const id = '0123456789abcdef'.repeat(4);
  assert.equal(shownError(new Error(`start container ${id}: no`)), 'start container 0123456789abc: no');
  for (const digest of [`sha256:${id}`, `r.test/a@sha256:${id}`, `/blobs/x${id}`])
    assert.equal(shownError(new Error(digest)), digest);
});

test('repeated errors omit IDs, whether bare, quoted or in paths, but retain digests', () => {
  const [id, digest] = ['0123456789abcdef'.repeat(4), `sha256:${'0123456789abcdef'.repeat(4)}`];
  const check = (message: string, expected: string) => assert.equal(repeatedError(new Error(message)), expected);
  check(`start container ${id}: create task ${id} with crun: no`, 'start container: create task with crun: no');
  check(`network for sandbox "${id}": no cable`, 'network for sandbox: no cable');
  check(`open /run/x/${id}/config.json of ${digest}`, `open /run/x/…/config.json of ${digest}`);
});
