import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodEvents } from './event-recorder.ts';

const about = { kind: 'Pod', namespace: 'shop', name: 'web', uid: 'u1', container: 'app' };

test('repeats of an event are counted', () => {
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

test('memory is bounded: the event that was not repeated for longest is forgotten', () => {
  const events = new PodEvents('node');
  for (let index = 0; index < 2100; index++) events.event(about, 'Normal', 'Test', `message ${index}`);
  const all = events.list();
  assert.equal(all.length, 2000);
  assert.equal(all[0]!.message, 'message 100');
});

test('subscribers hear of each event, repeats too', async () => {
  const events = new PodEvents('node');
  const controller = new AbortController();
  const subscription = events.subscribe(controller.signal);
  for (let index = 0; index < 2; index++) events.event(about, 'Normal', 'Test', 'same');
  controller.abort();
  const counts: number[] = [];
  for await (const { count } of subscription) counts.push(count);
  assert.deepEqual(counts, [1, 2]);
});
