import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mountPointsBelow } from './mounter.ts';

const line = (point: string) => `36 35 98:0 / ${point} rw,noatime master:1 - ext4 /dev/root rw`;

test('mount points at and below a directory are found, the last one first', () => {
  const mountinfo = ['/', '/a', '/a/b', '/ab', '/a/b', '/a/with\\040space', '/a/back\\134slash'].map(line).join('\n');
  assert.deepEqual(mountPointsBelow(mountinfo, '/a'), ['/a/back\\slash', '/a/with space', '/a/b', '/a/b', '/a']);
});
