import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { ItemSchema, ListResponseSchema, State } from '../gen/podwright/test/v1/test_pb.js';
import { decodedList } from './decoded-list.ts';

type Thing = { id: string; labels: Record<string, string> };

const things = Array.from(
  { length: 200 },
  (_, index): Thing => ({ id: `c${index}`, labels: { long: 'ä'.repeat(index) } }),
);

const encode = (items: MessageInitShape<typeof ItemSchema>[]) =>
  Buffer.from(toBinary(ListResponseSchema, create(ListResponseSchema, { items })));

const decoder = () => decodedList({ list: ListResponseSchema, element: ItemSchema });

test('a list is decoded as if from scratch, whatever the previous list contained', () => {
  const decode = decoder();
  const changed = things.map((thing, index) => (index % 3 === 0 ? { ...thing, labels: { new: `${index}` } } : thing));
  const odd = [{ id: '', labels: {} }, { id: 'x'.repeat(300), labels: {} }, things[0]!, things[0]!];
  for (const some of [things, things.slice(7), changed, [], odd, odd, odd.slice(1), odd.slice(0, 3), things])
    assert.deepEqual(decode(encode(some)), fromBinary(ListResponseSchema, encode(some)));
});

test('a list with the same items as the previous one, in any order, is the same object', () => {
  const decode = decoder();
  const first = decode(encode(things));
  assert.equal(decode(encode(things.toReversed())), first);
  assert.equal(decode(encode(things.slice(1))).items.length, things.length - 1);
  const twice = decode(encode([...things, things[0]!]));
  assert.equal(twice.items.length, things.length + 1);
  assert.equal(
    decode(encode([...things.slice(1), things[1]!, things[1]!])).items.filter(({ id }) => id === 'c1').length,
    3,
  );
  assert.equal(decode(encode([])).items.length, 0);
});

test('only map entries may change their order', () => {
  const decode = decoder();
  const annotations = { first: 'one', other: 'two' };
  const made = { id: 'c', state: State.RUNNING, annotations, image: 'sha256:1' };
  const whole = (item: MessageInitShape<typeof ItemSchema>) =>
    decode(encode([{ labels: { a: '1', b: '2' }, ...item }])).items[0];
  const first = whole(made);
  const turned = { labels: { b: '2', a: '1' }, annotations: { other: 'two', first: 'one' } };
  assert.equal(whole({ ...made, ...turned }), first);
  for (const change of [{ state: State.EXITED }, { image: 'sha256:2' }, { labels: { a: '1' } }]) {
    const changed = whole({ ...made, ...turned, ...change });
    assert.notEqual(changed, first);
    assert.deepEqual(changed, create(ItemSchema, { ...made, ...turned, ...change }));
    whole(made);
  }
});

test('fields between map entries are compared', () => {
  const decode = decoder();
  const field = (number: number, bytes: number[]) => [number * 8 + 2, bytes.length, ...bytes];
  const stateOf = (state: number) => {
    const label = (name: number) => field(3, [...field(1, [name]), ...field(2, [0x61])]);
    const item = [...field(1, [0x63]), ...label(0x61), 2 * 8, state, ...label(0x62)];
    return decode(Buffer.from(field(1, item))).items[0]!.state;
  };
  assert.deepEqual([1, 2, 1].map(stateOf), [1, 2, 1]);
});

test('an unchanged item is the same message as in the previous list, and a changed one is a new message', () => {
  const decode = decoder();
  const first = decode(encode(things)).items;
  const again = decode(encode([{ ...things[0]!, labels: {} }, ...things.slice(1).toReversed()])).items;
  assert.notEqual(again[0], first[0]);
  assert.ok(again.slice(1).every((item, index) => item === first[first.length - 1 - index]));
});

test('invalid bytes are rejected, and the next list is still decoded', () => {
  const decode = decoder();
  for (const bytes of [Buffer.from([0x0a, 0x7f, 1]), Buffer.from([0x0a, 0x02, 0x0a, 0x7f]), Buffer.from([0xff])])
    assert.throws(() => decode(bytes));
  assert.equal(decode(encode(things)).items.length, things.length);
  const withMore = Buffer.concat([encode(things.slice(0, 1)), Buffer.from([0x78, 0x01])]);
  assert.equal(decode(withMore).items[0]!.id, 'c0');
});
