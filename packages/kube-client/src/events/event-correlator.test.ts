import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordedEvent } from '@podwright/kube-api';
import { EventCorrelator } from './event-correlator.ts';

const NODE = { component: 'kubelet', host: 'node-1' };
const ABOUT = { kind: 'Pod', namespace: 'shop', name: 'web', uid: 'u1', fieldPath: 'spec.containers{app}' };

function recorded(message: string, atMs = 0, rest: Partial<RecordedEvent> = {}): RecordedEvent {
  return { about: ABOUT, type: 'Normal', reason: 'Test', message, atMs, ...rest };
}

/** Returns the correlated events as `new MESSAGE` or `N times MESSAGE`, and `-` for dropped ones. */
function correlate(events: RecordedEvent[]): string[] {
  const correlator = new EventCorrelator();
  return events.map((event) => {
    const result = correlator.correlate(event, NODE);
    if (result === undefined) return '-';
    const { count, message } = result.event;
    return `${result.isRepeat ? `${count} times` : 'new'} ${message}`;
  });
}

const messages = (count: number, at = (index: number) => index) =>
  Array.from({ length: count }, (_, index) => recorded(`m${index}`, at(index)));

test('an event has the same fields as the kubelet’s', () => {
  const { event } = new EventCorrelator().correlate(recorded('hello', 1_700_000_000_123), NODE)!;
  assert.match(event.metadata.name, /^web\.[0-9a-f]{16}$/);
  assert.deepEqual(
    { ...event, metadata: { ...event.metadata, name: '' } },
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: '', namespace: 'shop' },
      involvedObject: { apiVersion: 'v1', ...ABOUT },
      type: 'Normal',
      reason: 'Test',
      message: 'hello',
      source: { component: 'kubelet', host: 'node-1' },
      firstTimestamp: '2023-11-14T22:13:20Z',
      lastTimestamp: '2023-11-14T22:13:20Z',
      count: 1,
      eventTime: null,
      reportingComponent: 'kubelet',
      reportingInstance: 'node-1',
    },
  );
});

test('node events are in the default namespace, and have valid names even if the node’s name is not', () => {
  const about = { kind: 'Node', namespace: '', name: 'node_1', uid: 'node_1' };
  const { event } = new EventCorrelator().correlate(recorded('m', 0, { about }), NODE)!;
  assert.equal(event.metadata.namespace, 'default');
  assert.match(event.metadata.name, /^[0-9a-f-]{36}$/);
  assert.deepEqual(event.involvedObject, { apiVersion: 'v1', kind: 'Node', name: 'node_1', uid: 'node_1' });
});

test('repeats are counted, keeping their name and first time', () => {
  const correlator = new EventCorrelator();
  const first = correlator.correlate(recorded('m', 0), NODE)!.event;
  const second = correlator.correlate(recorded('m', 60_000), NODE)!;
  assert.deepEqual(
    [second.isRepeat, second.event.count, second.event.metadata.name, second.event.firstTimestamp],
    [true, 2, first.metadata.name, '1970-01-01T00:00:00Z'],
  );
  assert.equal(second.event.lastTimestamp, '1970-01-01T00:01:00Z');
});

test('events that differ in more than the time are not repeats', () => {
  const other = { ...ABOUT, fieldPath: 'spec.containers{other}' };
  const events = [
    recorded('m'),
    recorded('n'),
    recorded('m', 0, { reason: 'Other' }),
    recorded('m', 0, { about: other }),
  ];
  assert.deepEqual(correlate([...events, recorded('m', 0, { type: 'Warning' })]), [
    'new m',
    'new n',
    'new m',
    'new m',
    'new m',
  ]);
});

test('from the tenth message with the same reason within ten minutes, messages are combined into one event', () => {
  assert.deepEqual(correlate(messages(12)).slice(8), [
    'new m8',
    'new (combined from similar events): m9',
    '2 times (combined from similar events): m10',
    '3 times (combined from similar events): m11',
  ]);
  const slow = messages(12, (index) => index * 600_001);
  assert.deepEqual(correlate(slow).slice(8), ['new m8', 'new m9', 'new m10', 'new m11']);
});

test('each object may have a burst of 25 events, then one every five minutes', () => {
  const same = (atMs: number) => recorded('m', atMs);
  const events = correlate([...Array.from({ length: 27 }, () => same(0)), same(299_999), same(300_000), same(300_001)]);
  assert.deepEqual(events.slice(24), ['25 times m', '-', '-', '-', '29 times m', '-']);
  const other = recorded('m', 0, { about: { ...ABOUT, uid: 'u2' } });
  assert.deepEqual(correlate([...Array.from({ length: 26 }, () => same(0)), other]).slice(-2), ['-', 'new m']);
});

test('the burst of an object is shared by events of all types', () => {
  const events = Array.from({ length: 26 }, (_, index) => recorded('m', 0, { type: index % 2 ? 'Warning' : 'Normal' }));
  assert.deepEqual(correlate(events).slice(-2), ['13 times m', '-']);
});

test('setting back the clock does not stop events', () => {
  assert.deepEqual(correlate([recorded('m', 1e12), recorded('m', 0)]), ['new m', '2 times m']);
});

test('memory is bounded: the least recently seen event is evicted', () => {
  const correlator = new EventCorrelator();
  correlator.correlate(recorded('m'), NODE);
  for (let index = 0; index < 4096; index++) {
    const about = { ...ABOUT, uid: `other${index}` };
    correlator.correlate(recorded('m', 0, { about }), NODE);
  }
  assert.equal(correlator.correlate(recorded('m'), NODE)!.isRepeat, false);
});
