import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../objects/types.ts';
import { eventSubject } from './event-recorder.ts';
import { PodEvents } from './pod-events.ts';

const about = { kind: 'Pod', namespace: 'shop', name: 'web', uid: 'u1', fieldPath: 'spec.containers{app}' };

test('repeated events are counted', () => {
  let now = 0;
  const events = new PodEvents('node', () => now);
  events.event(about, 'Warning', 'BackOff', 'again');
  now = 60_000;
  events.event(about, 'Warning', 'BackOff', 'again');
  events.event(about, 'Normal', 'Started', 'app');
  const [first, second] = events.list();
  assert.deepEqual([first!.count, first!.lastTimestamp], [2, '1970-01-01T00:01:00Z']);
  assert.equal(first!.involvedObject.fieldPath, 'spec.containers{app}');
  assert.equal(second!.reason, 'Started');
});

test('memory is bounded: the event with the oldest repeat is evicted', () => {
  const events = new PodEvents('node');
  for (let index = 0; index < 2100; index++)
    events.event({ ...about, uid: `u${index}` }, 'Normal', 'Test', `message ${index}`);
  const all = events.list();
  assert.equal(all.length, 2000);
  assert.equal(all[0]!.message, 'message 100');
});

test('ever-changing messages are combined after the tenth, for ten minutes', () => {
  let now = 0;
  const events = new PodEvents('node', () => now);
  for (let index = 0; index < 100_000; index++) events.event(about, 'Warning', 'Unhealthy', `output ${index}`);
  events.event(about, 'Warning', 'Unhealthy', 'output 3');
  const all = events.list();
  assert.equal(all.length, 11);
  assert.deepEqual([all[9]!.message, all[9]!.count], ['(combined from similar events): output 99999', 99_990]);
  assert.deepEqual([all[10]!.message, all[10]!.count], ['output 3', 2]);
  now = 700_000;
  events.event(about, 'Warning', 'Unhealthy', 'later');
  assert.equal(events.list().at(-1)!.message, 'later');
});

test('subscribers get every event, including repeats', async () => {
  const events = new PodEvents('node');
  const controller = new AbortController();
  const subscription = events.subscribe(controller.signal);
  for (let index = 0; index < 2; index++) events.event(about, 'Normal', 'Test', 'same');
  controller.abort();
  const counts: number[] = [];
  for await (const { count } of subscription) counts.push(count);
  assert.deepEqual(counts, [1, 2]);
});

test('an event names the list its container is in', () => {
  const lists = { initContainers: [{ name: 'i', image: 'x' }], ephemeralContainers: [{ name: 'e', image: 'x' }] };
  const metadata = { name: 'p', namespace: 'd', uid: 'u' };
  const spec = { containers: [{ name: 'c', image: 'x' }], ...lists };
  const pathOf = (container?: string) =>
    eventSubject({ apiVersion: 'v1', kind: 'Pod', metadata, spec } as Pod, container).fieldPath;
  const paths = ['c', 'i', 'e', undefined].map(pathOf);
  assert.deepEqual(paths, ['spec.containers{c}', 'spec.initContainers{i}', 'spec.ephemeralContainers{e}', undefined]);
});
