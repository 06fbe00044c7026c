import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import type { PodFacts } from './finding.ts';
import { explainRestarts } from './restarts.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');

/** Returns a ready pod that started 12 minutes ago, with a running container whose last run ended `secondsAgo`. */
function podOf(restartCount: number, end: object, secondsAgo: number, limit: string | undefined = '96Mi'): Pod {
  const finishedAt = new Date(NOW - secondsAgo * 1000).toISOString();
  const resources = limit === undefined ? {} : { limits: { memory: limit } };
  return {
    metadata: { name: 'web', namespace: 'shop', uid: 'u' },
    spec: { containers: [{ name: 'worker', image: 'i', resources }] },
    status: {
      phase: 'Running',
      startTime: '2026-01-01T00:48:00Z',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [
        {
          ...{ name: 'worker', ready: true, restartCount, state: { running: { startedAt: finishedAt } } },
          lastState: { terminated: { ...end, finishedAt } },
        },
      ],
    },
  } as unknown as Pod;
}

const explain = (pod: Pod, facts: Partial<PodFacts> = {}) =>
  explainRestarts({ pod, events: [], log: undefined, now: NOW, ...facts });

const killed = { exitCode: 137, reason: 'OOMKilled' };
const failed = { exitCode: 3, reason: 'Error' };

test('a running container that was killed for memory in the last hour needs attention', () => {
  const { cause, sentence, advice } = explain(podOf(4, killed, 60))!;
  assert.equal(cause, 'out-of-memory');
  assert.equal(
    sentence,
    'container worker runs, but restarted 4 times in 12 minutes, last: OOMKilled at its limit of 96Mi',
  );
  assert.match(advice[0]!, /resources\.limits\.memory/);
  assert.match(explain(podOf(1, killed, 50 * 60))!.sentence, /restarted 1 time in/);
  assert.equal(explain(podOf(4, killed, 61 * 60)), undefined);
});

test('a running container that crashed several times in the last minutes needs attention', () => {
  const log = { container: 'worker', previous: true, lines: ['open /data: permission denied'] };
  const { cause, sentence, log: shown } = explain(podOf(3, failed, 60), { log })!;
  assert.equal(cause, 'permission');
  assert.match(sentence, /restarted 3 times in 12 minutes, last: exit code 3: it lacks a permission$/);
  assert.equal(shown, log);
  assert.equal(explain(podOf(1, failed, 60)), undefined);
  assert.equal(explain(podOf(3, failed, 11 * 60)), undefined);
  assert.equal(explain(podOf(2, { exitCode: 0, reason: 'Completed' }, 60))!.cause, 'exits-with-0');
});

test('the liveness probe that ended the container is named', () => {
  const event = (reason: string, message: string) => ({
    ...{ type: 'Warning', reason, message, involvedObject: { fieldPath: 'spec.containers{worker}' } },
  });
  const events = [
    event('Unhealthy', 'Liveness probe failed: no answer'),
    event('Killing', 'Container worker failed liveness probe, will be restarted'),
  ];
  const { cause, sentence } = explain(podOf(2, failed, 60), { events })!;
  assert.equal(cause, 'liveness-probe');
  assert.match(sentence, /last: its liveness probe failed: no answer$/);
});
