import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MountEntry } from '../sys/mountinfo.ts';
import { checkPropagation } from './container-mounts.ts';
import type { ContainerMount } from './container-record.ts';

const entry = (mountPoint: string, ...propagation: string[]) => ({ mountPoint, propagation }) as unknown as MountEntry;
const mounts = [entry('/', 'shared:1'), entry('/data'), entry('/data/in', 'master:2')];

function check(propagation: ContainerMount['propagation'], source: string, allowed: boolean) {
  const attempt = () => checkPropagation({ propagation, hostPath: source } as ContainerMount, source, mounts);
  if (allowed) attempt();
  else assert.throws(attempt, { code: 'failed_precondition' });
}

test('mounts are passed on only where the mount that holds the source allows it', () => {
  check('bidirectional', '/var', true);
  check('host-to-container', '/var', true);
  check('bidirectional', '/data/x', false);
  check('host-to-container', '/data/x', false);
  check('host-to-container', '/data/in/x', true);
  check('bidirectional', '/data/in', false);
  check('bidirectional', '/database', true);
});
