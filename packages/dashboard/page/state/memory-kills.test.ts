import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainPod } from '@podwright/kube-view';
import type { Pod } from '../api/objects.ts';
import { killsText, memoryKills } from './memory-kills.ts';

const end = (finishedAt: string, reason = 'OOMKilled') => ({ terminated: { exitCode: 137, reason, finishedAt } });
const podOf = (state: object, lastState: object = {}) =>
  ({ status: { containerStatuses: [{ name: 'main', state, lastState }] } }) as unknown as Pod;

test('OOM kills are collected from the containers’ last terminations', () => {
  const first = memoryKills([], podOf({ running: {} }, end('2026-01-01T00:00:01Z')));
  assert.deepEqual(first, [{ container: 'main', time: Date.parse('2026-01-01T00:00:01Z') }]);
  const second = memoryKills(first, podOf(end('2026-01-01T00:00:05Z'), end('2026-01-01T00:00:01Z')));
  assert.equal(second.length, 2);
  assert.equal(memoryKills(second, podOf({ running: {} }, end('2026-01-01T00:00:05Z'))), second);
});

test('other terminations are not OOM kills', () => {
  const before: [] = [];
  assert.equal(memoryKills(before, podOf(end('2026-01-01T00:00:01Z', 'Error'))), before);
  assert.equal(memoryKills(before, podOf({}, end('', 'OOMKilled'))), before);
});

test('the memory panel and the explanation of a pod name the same number of restarts', () => {
  const pod = {
    metadata: { name: 'p', namespace: 'default', uid: 'u' },
    spec: { containers: [{ name: 'main', image: 'i' }] },
    status: {
      phase: 'Running',
      containerStatuses: [
        {
          ...{ name: 'main', ready: false, restartCount: 6, state: { waiting: { reason: 'CrashLoopBackOff' } } },
          lastState: end('2026-01-01T00:00:01Z'),
        },
      ],
    },
  } as unknown as Pod;
  const { sentence } = explainPod({ pod, events: [], log: undefined, unboundClaims: [], nodes: [], now: Date.now() });
  assert.match(sentence, /the kernel killed it; 6 restarts so far$/);
  assert.equal(killsText(1, 6), '6 restarts so far; this page has seen 1 kill');
});
