import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventObject, Pod } from '../api/objects.ts';
import { EventsByObject } from './events-by-object.ts';
import { askedFor, needsAttention, PodViews, viewOf } from './trouble.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');

function podOf(name: string, status: object, created = '2026-01-01T00:00:00Z'): Pod {
  const metadata = { name, namespace: 'default', uid: name, creationTimestamp: created };
  return { metadata, spec: { containers: [{ name: 'c', image: 'i' }] }, status } as unknown as Pod;
}

const ready = { conditions: [{ type: 'Ready', status: 'True' }], phase: 'Running' };
const container = (state: object, more: object = {}) => ({
  name: 'c',
  state,
  lastState: {},
  ready: false,
  restartCount: 0,
  ...more,
});
const running = container({ running: { startedAt: '2026-01-01T00:00:00Z' } }, { ready: true, started: true });
const well = podOf('well', { ...ready, containerStatuses: [running] });
const failing = podOf('failing', {
  phase: 'Running',
  containerStatuses: [
    container(
      { waiting: { reason: 'CrashLoopBackOff' } },
      { restartCount: 4, lastState: { terminated: { exitCode: 1, reason: 'Error' } } },
    ),
  ],
});
const starting = podOf('new', { phase: 'Pending' }, '2026-01-01T00:59:55Z');
const slow = podOf('slow', { phase: 'Pending' });
const restarted = podOf('restarted', {
  ...ready,
  containerStatuses: [
    { ...running, restartCount: 1, lastState: { terminated: { exitCode: 1, finishedAt: '2026-01-01T00:55:00Z' } } },
  ],
});
const completed = podOf('done', {
  phase: 'Succeeded',
  containerStatuses: [container({ terminated: { exitCode: 0 } })],
});

test('pods are sorted by level, and those that are not ready have a reason', () => {
  const views = new PodViews().of([completed, well, starting, restarted, slow, failing], () => [], NOW);
  assert.deepEqual(
    views.map(({ pod, level }) => `${pod.metadata.name}: ${level}`),
    ['failing: failing', 'slow: failing', 'new: starting', 'restarted: restarted', 'well: well', 'done: completed'],
  );
  assert.match(views[0]!.finding!.sentence, /exit/);
  assert.deepEqual([views[0]!.status, views[0]!.restarts, views[0]!.ready], ['CrashLoopBackOff', 4, '0/1']);
});

test('a view is recomputed only if the pod or its events have changed', () => {
  const views = new PodViews();
  const events = new EventsByObject();
  const event = (uid: string, message: string): EventObject => ({
    metadata: { uid: message },
    involvedObject: { uid },
    ...{ type: 'Warning', reason: 'Unhealthy', message, lastTimestamp: '2026-01-01T00:59:00Z' },
  });
  const first = event('slow', 'one');
  events.update([first, event('other', 'two')]);
  const before = views.of([slow], events.of, NOW)[0];
  events.update([first, event('other', 'three')]);
  assert.equal(views.of([slow], events.of, NOW)[0], before);
  events.update([first, event('slow', 'four')]);
  assert.notEqual(views.of([slow], events.of, NOW)[0], before);
  assert.deepEqual(events.of('none'), []);
});

test('500 pods are sorted within the time of one frame', () => {
  const pods = Array.from({ length: 500 }, (_, index) => podOf(`p${index}`, failing.status as object));
  const views = new PodViews();
  const none: EventObject[] = [];
  views.of(pods, () => none, NOW);
  const begin = performance.now();
  for (let round = 0; round < 10; round++) views.of(pods, () => none, NOW);
  assert.ok((performance.now() - begin) / 10 < 16);
});

test('a pod without a status is starting', () => {
  assert.equal(viewOf({ ...starting, status: undefined }, [], NOW).level, 'starting');
});

test('a pod that runs but was killed for memory minutes ago needs attention', () => {
  const end = { exitCode: 137, reason: 'OOMKilled', finishedAt: '2026-01-01T00:55:00Z' };
  const pod = podOf('hungry', {
    ...ready,
    containerStatuses: [{ ...running, restartCount: 4, lastState: { terminated: end } }],
  });
  const [first, second] = new PodViews().of([well, pod], () => [], NOW);
  assert.equal(first!.level, 'unsteady');
  assert.match(first!.finding!.sentence, /restarted 4 times in 60 minutes, last: OOMKilled/);
  assert.deepEqual([needsAttention(first!), needsAttention(second!)], [true, false]);
});

test('the server is asked about pods that wait for a claim, again and again, and once about crashes', () => {
  const message = '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.';
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }];
  const gallery = viewOf(podOf('gallery', { phase: 'Pending', conditions }), [], NOW);
  assert.deepEqual([gallery, viewOf(failing, [], NOW), viewOf(slow, [], NOW), viewOf(well, [], NOW)].map(askedFor), [
    'objects',
    'log',
    undefined,
    undefined,
  ]);
});
