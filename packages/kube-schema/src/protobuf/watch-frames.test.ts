import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Schema } from '../schema/schema.ts';
import { encodeWatchEvent, type WatchEvent, WatchFrames } from './watch-frames.ts';

const schema = await Schema.load();

const event = (type: string, name: string): WatchEvent => ({
  type,
  object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name } },
});
const events = [event('ADDED', 'a'), event('DELETED', 'b')];
const frames = Buffer.concat(events.map((one) => encodeWatchEvent(schema, one)));

describe('watch events', () => {
  it('are found in chunks of any size', () => {
    for (const size of [1, 3, 4, 5, 50, frames.length]) {
      const reader = new WatchFrames(schema);
      const found: WatchEvent[] = [];
      for (let at = 0; at < frames.length; at += size) found.push(...reader.add(frames.subarray(at, at + size)));
      assert.deepEqual(found, events, `chunks of ${size}`);
    }
  });

  it('begin with their length in 4 bytes', () => {
    const [first] = events.map((one) => Buffer.from(encodeWatchEvent(schema, one)));
    assert.equal(first!.readUInt32BE(), first!.length - 4);
    assert.equal(first!.subarray(4, 11).toString('latin1'), '\x0a\x05ADDED');
  });

  it('larger than the bound are refused before they arrive', () => {
    const reader = new WatchFrames(schema, { maxFrameBytes: 100 });
    assert.throws(() => [...reader.add(Buffer.from([0, 0, 0, 101]))], { code: 'resource_exhausted' });
  });
});
