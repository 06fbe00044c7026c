import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeEvent, type ReceivedEvent } from './event.ts';

const CREATED = '2026-11-30T10:00:00Z';
const EVENT_TIME = '2026-11-30T10:00:01.000000Z';
const SERIES_TIME = '2026-11-30T10:00:02.000000Z';

/** Completes an event that has these fields, and returns its `lastTimestamp` and `count`. */
function completed(fields: Partial<ReceivedEvent>): [string, number] {
  const event = { metadata: { name: 'e', namespace: 'd', uid: 'u', creationTimestamp: CREATED }, ...fields };
  const { lastTimestamp, count } = completeEvent(event as ReceivedEvent);
  return [lastTimestamp, count];
}

test('a core/v1 event keeps its time and count', () => {
  assert.deepEqual(completed({ lastTimestamp: CREATED, count: 3, eventTime: null, series: null }), [CREATED, 3]);
});

test('an events.k8s.io/v1 event gets its time and count from the newer fields', () => {
  assert.deepEqual(completed({ lastTimestamp: null, eventTime: EVENT_TIME }), [EVENT_TIME, 1]);
  const series = { count: 5, lastObservedTime: SERIES_TIME };
  assert.deepEqual(completed({ count: 0, eventTime: EVENT_TIME, series }), [SERIES_TIME, 5]);
  assert.deepEqual(completed({}), [CREATED, 1]);
});
