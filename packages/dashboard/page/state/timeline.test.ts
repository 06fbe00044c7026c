import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/objects.ts';
import { probeFailures, timelineOf } from './timeline.ts';
import { chartsOf } from './waterfall.ts';

const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;

test('a pod’s history is sorted by time', () => {
  const pod = {
    metadata: { name: 'web', namespace: 'a', uid: 'u', creationTimestamp: at(0) },
    spec: { containers: [{ name: 'c' }] },
    status: {
      phase: 'Running',
      conditions: [
        { type: 'PodScheduled', status: 'True', lastTransitionTime: at(1) },
        { type: 'Ready', status: 'False', reason: 'ContainersNotReady', lastTransitionTime: at(8) },
      ],
      containerStatuses: [
        {
          name: 'c',
          restartCount: 2,
          state: { running: { startedAt: at(9) } },
          lastState: { terminated: { exitCode: 137, reason: 'OOMKilled', finishedAt: at(7) } },
        },
      ],
    },
  } as unknown as Pod;
  const event = {
    metadata: {},
    type: 'Normal',
    reason: 'Pulled',
    message: 'image there',
    count: 3,
    lastTimestamp: at(2),
  };
  const timeline = timelineOf(pod, [event, { metadata: {}, reason: 'Timeless' }]);
  assert.deepEqual(
    timeline.map(({ text, isWarning, count }) => `${isWarning ? '! ' : ''}${text} ×${count}`),
    [
      'created ×1',
      'assigned to its node ×1',
      'Pulled: image there ×3',
      '! c was killed: out of memory ×1',
      '! not ready (ContainersNotReady) ×1',
      'c started again (restart 2) ×1',
    ],
  );
});

test('probe failures show the probe, the container and the count', () => {
  const unhealthy = {
    metadata: {},
    reason: 'Unhealthy',
    message: 'Readiness probe failed: HTTP 500',
    involvedObject: { fieldPath: 'spec.containers{web}' },
    ...{ firstTimestamp: at(1), lastTimestamp: at(5), count: 4 },
  };
  const [mark, ...others] = probeFailures([unhealthy, { metadata: {}, reason: 'Pulled' }]);
  assert.deepEqual(others, []);
  assert.deepEqual([mark?.probe, mark?.container, mark?.count], ['Readiness', 'web', 4]);
  assert.equal(mark!.lastMs - mark!.firstMs, 4000);
});

test('each start has a chart, newest first, with children under their spans', () => {
  const charts = chartsOf([
    { name: 'run', startMs: 0, endMs: 100, id: 'a' },
    { name: 'cni', startMs: 50, endMs: 100, id: 'b', parentId: 'a' },
    { name: 'lost', startMs: 60, endMs: 61, id: 'c', parentId: 'unknown' },
    { name: 'again', startMs: 1_000_000, endMs: 1_000_200, id: 'd', open: true },
  ]);
  const shown = charts.map(({ bars }) => bars.map(({ span, depth, from, width }) => [span.name, depth, from, width]));
  assert.deepEqual(shown, [
    [['again', 0, 0, 1]],
    [
      ['run', 0, 0, 1],
      ['cni', 1, 0.5, 0.5],
      ['lost', 0, 0.6, 0.01],
    ],
  ]);
});

test('a sync that only repeats its first step has no chart', () => {
  const sync = (startMs: number, more: object = {}) => ({ name: 'cgroup', startMs, endMs: startMs + 1, ...more });
  const namesOf = (spans: Parameters<typeof chartsOf>[0]) => chartsOf(spans).map(({ beginMs }) => beginMs);
  const start = [sync(0), { name: 'run', startMs: 1, endMs: 9 }];
  assert.deepEqual(namesOf([...start, sync(60_000), sync(120_000)]), [0]);
  assert.deepEqual(namesOf([...start, sync(60_000, { open: true })]), [60_000, 0]);
  assert.deepEqual(namesOf([sync(0), sync(60_000)]), [60_000]);
});

test('a span that is its own parent is omitted', () => {
  const charts = chartsOf([
    { name: 'a', startMs: 0, endMs: 1, id: 'a', parentId: 'a' },
    { name: 'b', startMs: 0, endMs: 1 },
  ]);
  assert.deepEqual(
    charts[0]?.bars.map(({ span }) => span.name),
    ['b'],
  );
  assert.deepEqual(chartsOf([]), []);
});
