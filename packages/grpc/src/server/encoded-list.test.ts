import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ItemSchema, ListResponseSchema } from '../gen/podwright/test/v1/test_pb.js';
import { PREFIX_BYTES } from '../message-reader.ts';
import { encodedList, sentBytes } from './encoded-list.ts';

type Thing = { id: string; labels: Record<string, string> };

const things = Array.from(
  { length: 300 },
  (_, index): Thing => ({
    id: `c${index}`,
    labels: index % 3 === 0 ? {} : { long: 'x'.repeat(index), ä: 'ü' },
  }),
);

test('a list of cached encodings has the same bytes as a freshly encoded list', () => {
  let conversions = 0;
  const response = encodedList({ list: ListResponseSchema, element: ItemSchema }, (thing: Thing) => {
    conversions++;
    return { ...thing, createdAt: 1n };
  });
  const encode = (some: Thing[]) => sentBytes(response(some))?.subarray(PREFIX_BYTES) ?? assert.fail();
  const whole = (some: Thing[]) =>
    create(ListResponseSchema, { items: some.map((thing) => ({ ...thing, createdAt: 1n })) });
  for (const some of [things, things.slice(7), [], things.toReversed()]) {
    assert.deepEqual(encode(some), Buffer.from(toBinary(ListResponseSchema, whole(some))));
    assert.deepEqual(fromBinary(ListResponseSchema, encode(some)), whole(some));
  }
  assert.equal(conversions, things.length);
  assert.equal(response([...things]), response(things), 'the same list is encoded once');
  const changed = { ...things[0]!, id: 'another' };
  const others = [...things.slice(0, -1), changed];
  assert.deepEqual(fromBinary(ListResponseSchema, encode(others)), whole(others));
  assert.deepEqual(fromBinary(ListResponseSchema, encode([changed])), whole([changed]));
});
