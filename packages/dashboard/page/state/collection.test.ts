import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Transport } from '../api/follow-list.ts';
import type { KubeObject } from '../api/objects.ts';
import { Collection, type NewestOnly } from './collection.ts';

const object = (name: string, resourceVersion = '1') => ({
  metadata: { name, uid: name, resourceVersion, managedFields: [{}] },
});

/** Creates a collection from a list, by default of two objects. The test sends watch events and decides when frames are drawn. */
function setUp(newest?: NewestOnly, listed = [object('a'), object('b')]) {
  const events = new TransformStream<Uint8Array, Uint8Array>();
  const writer = events.writable.getWriter();
  const frames: (() => void)[] = [];
  const transport: Transport = {
    call: async <T>() => ({ metadata: { resourceVersion: '1' }, items: listed }) as T,
    stream: () => events.readable.values() as AsyncGenerator<Uint8Array>,
  };
  const collection = new Collection(
    { path: 'api/v1/pods' },
    { newest, transport, schedule: (run) => frames.push(run) },
  );
  const send = (...list: object[]) =>
    writer.write(new TextEncoder().encode(list.map((event) => `${JSON.stringify(event)}\n`).join('')));
  const names = () => collection.list.map(({ metadata }) => metadata.name);
  return { collection, send, frames, names };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('changes are applied together, once per frame', async () => {
  const { collection, send, frames, names } = setUp();
  await settled();
  assert.deepEqual([names(), collection.state.value.kind], [['a', 'b'], 'live']);
  const before = collection.version.value;
  await send({ type: 'ADDED', object: object('c', '2') }, { type: 'DELETED', object: object('a', '3') });
  await send({ type: 'MODIFIED', object: object('b', '4') });
  await settled();
  assert.deepEqual([names(), frames.length], [['a', 'b'], 1]);
  frames[0]!();
  assert.deepEqual([names(), collection.version.value], [['b', 'c'], before + 1]);
  assert.equal(collection.list, collection.list);
  collection.close();
});

const timeOf = ({ metadata }: KubeObject) => Number(metadata.resourceVersion);

test('if there are too many objects, the oldest are dropped, whatever their order of arrival', async () => {
  const { collection, send, frames, names } = setUp({ maxObjects: 4, timeOf });
  await settled();
  await send(
    { type: 'ADDED', object: object('young', '30') },
    { type: 'ADDED', object: object('old', '0') },
    { type: 'MODIFIED', object: object('a', '40') },
    { type: 'ADDED', object: object('late', '20') },
  );
  await settled();
  frames[0]!();
  assert.deepEqual(names(), ['a', 'b', 'young', 'late']);
  collection.close();
});

test('the newest objects of an overlong list are kept', async () => {
  const { collection, names } = setUp({ maxObjects: 1, timeOf }, [
    object('a', '1'),
    object('b', '3'),
    object('c', '2'),
  ]);
  await settled();
  assert.deepEqual(names(), ['b']);
  collection.close();
});
