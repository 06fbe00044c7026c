import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ContainerSchema, ListContainersResponseSchema } from '../messages.ts';
import { decodedList } from './decoded-list.ts';

type Thing = { id: string; labels: Record<string, string> };

const things = Array.from(
  { length: 200 },
  (_, index): Thing => ({ id: `c${index}`, labels: { long: 'ä'.repeat(index) } }),
);

const encode = (containers: Thing[]) =>
  Buffer.from(toBinary(ListContainersResponseSchema, create(ListContainersResponseSchema, { containers })));

const decoder = () => decodedList({ list: ListContainersResponseSchema, element: ContainerSchema });

test('a list is decoded as it is whole, whatever was in the one before', () => {
  const decode = decoder();
  const changed = things.map((thing, index) => (index % 3 === 0 ? { ...thing, labels: { new: `${index}` } } : thing));
  const odd = [{ id: '', labels: {} }, { id: 'x'.repeat(300), labels: {} }, things[0]!, things[0]!];
  for (const some of [things, things.toReversed(), things.slice(7), changed, [], odd, odd, things])
    assert.deepEqual(decode(encode(some)), fromBinary(ListContainersResponseSchema, encode(some)));
});

test('what has not changed since the last list is the same message, and what has changed is another', () => {
  const decode = decoder();
  const first = decode(encode(things)).containers;
  const again = decode(encode([{ ...things[0]!, labels: {} }, ...things.slice(1).toReversed()])).containers;
  assert.notEqual(again[0], first[0]);
  assert.ok(again.slice(1).every((item, index) => item === first[first.length - 1 - index]));
});

test('bytes that are no list fail, and the next list is decoded', () => {
  const decode = decoder();
  for (const bytes of [Buffer.from([0x0a, 0x7f, 1]), Buffer.from([0x0a, 0x02, 0x0a, 0x7f]), Buffer.from([0xff])])
    assert.throws(() => decode(bytes));
  assert.equal(decode(encode(things)).containers.length, things.length);
  const withMore = Buffer.concat([encode(things.slice(0, 1)), Buffer.from([0x78, 0x01])]);
  assert.equal(decode(withMore).containers[0]!.id, 'c0');
});
