import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventObject } from '../api/objects.ts';
import { EventsByObject } from './events-by-object.ts';

const event = (uid: string, time: number): EventObject => ({
  ...{ apiVersion: 'v1', kind: 'Event', metadata: { name: `${uid}-${time}` } },
  ...{ involvedObject: { uid }, lastTimestamp: new Date(time).toISOString() },
});

test('the events of an object are sorted by time, whatever their order of arrival', () => {
  const events = new EventsByObject();
  const [late, early, other] = [event('a', 2000), event('a', 1000), event('b', 1500)];
  events.update([late, other, early]);
  assert.deepEqual([events.of('a'), events.of('b'), events.of('c')], [[early, late], [other], []]);
});

test('a change of an event replaces and sorts only the list of its object', () => {
  const events = new EventsByObject();
  let reads = 0;
  const counted = {
    ...event('a', 1000),
    get lastTimestamp() {
      reads++;
      return new Date(1000).toISOString();
    },
  };
  const list = [counted, event('a', 500), event('b', 100)];
  events.update(list);
  const [a, b, first] = [events.of('a'), events.of('b'), reads];
  events.update([...list, event('b', 50)]);
  assert.equal(events.of('a'), a);
  assert.notEqual(events.of('b'), b);
  assert.equal(reads, first);
});
