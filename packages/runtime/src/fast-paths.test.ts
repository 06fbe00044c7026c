import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fastPathsOf } from './fast-paths.ts';
import { fastOci, plainOci } from './oci-runtime/oci-fast-paths.ts';

const requested = { readySandboxes: 8, expediteRcu: true };

test('fast paths are enabled by default, as far as their own options allow', () => {
  assert.deepEqual(fastPathsOf({}), { oci: fastOci, readySandboxes: 0, expediteRcu: false });
  assert.deepEqual(fastPathsOf(requested), { oci: fastOci, ...requested });
});

test('with fast paths disabled every part works the plain way, regardless of its options', () => {
  const plain = { oci: plainOci, readySandboxes: 0, expediteRcu: false };
  assert.deepEqual(fastPathsOf({ ...requested, fastPaths: false }), plain);
});

test('a program run without fast paths has no shortcuts, even if they are in its record', () => {
  const covered = { tree: '/tree', path: '/usr/bin/crun', nsenter: '/usr/bin/nsenter' };
  const program = { name: 'crun', path: '/bin/unshare', args: ['crun'], stateFormat: 'crun' as const, covered };
  assert.deepEqual(plainOci.restrict(program), { name: 'crun', path: '/bin/unshare', args: ['crun'] });
  assert.equal(plainOci.expectedFormat({ name: 'crun', version: '1.8' }), undefined);
  assert.equal(fastOci.restrict(program), program);
});
