import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MountEntry, parseMountinfo } from '@podwright/system';
import type { ContainerMount } from '../records/container-record.ts';
import { checkPropagation, withMountsBelow } from './resolve-mounts.ts';

const entry = (mountPoint: string, ...propagation: string[]) => ({ mountPoint, propagation }) as unknown as MountEntry;
const mounts = [entry('/', 'shared:1'), entry('/data'), entry('/data/in', 'master:2')];

function check(propagation: ContainerMount['propagation'], source: string, allowed: boolean) {
  const attempt = () => checkPropagation({ propagation, hostPath: source } as ContainerMount, source, mounts);
  if (allowed) attempt();
  else assert.throws(attempt, { code: 'failed_precondition' });
}

test('mount propagation is rejected if the mount containing the source does not allow it', () => {
  check('bidirectional', '/var', true);
  check('host-to-container', '/var', true);
  check('bidirectional', '/data/x', false);
  check('host-to-container', '/data/x', false);
  check('host-to-container', '/data/in/x', true);
  check('bidirectional', '/data/in', false);
  check('bidirectional', '/database', true);
});

test('mounts under a source are bound separately, and read-only only if the mount is recursively read-only', () => {
  const entry = (mountPoint: string) => `1 1 0:1 / ${mountPoint} rw - tmpfs tmpfs rw`;
  const entries = parseMountinfo(Buffer.from(['/', '/h', '/h/a', '/h/a/b', '/h/a', '/hx'].map(entry).join('\n')));
  const plain = { source: '/h', destination: '/d', propagation: 'private', selinuxRelabel: true } as const;
  const bound = (change: { readonly: boolean; recursiveReadOnly: boolean }) =>
    withMountsBelow([{ ...plain, ...change }], entries).map(
      ({ source, destination, readonly }) => `${source} ${destination} ${readonly ? 'ro' : 'rw'}`,
    );
  const top = { readonly: true, recursiveReadOnly: false };
  assert.deepEqual(bound(top), ['/h /d ro', '/h/a /d/a rw', '/h/a/b /d/a/b rw']);
  const all = { readonly: true, recursiveReadOnly: true };
  assert.deepEqual(bound(all), ['/h /d ro', '/h/a /d/a ro', '/h/a/b /d/a/b ro']);
});
