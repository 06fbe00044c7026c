import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ContainerSchema, ListContainersResponseSchema } from '../messages.ts';
import { encodedList } from './encoded-list.ts';

type Thing = { id: string; labels: Record<string, string> };

const things = Array.from(
  { length: 300 },
  (_, index): Thing => ({
    id: `c${index}`,
    labels: index % 3 === 0 ? {} : { long: 'x'.repeat(index), ä: 'ü' },
  }),
);

test('a list of messages that were encoded before has the same bytes as one that is encoded whole', () => {
  let conversions = 0;
  const response = encodedList({ list: ListContainersResponseSchema, element: ContainerSchema }, (thing: Thing) => {
    conversions++;
    return { ...thing, createdAt: 1n };
  });
  const encode = (some: Thing[]) => Buffer.from(toBinary(ListContainersResponseSchema, response(some)));
  const whole = (some: Thing[]) =>
    create(ListContainersResponseSchema, { containers: some.map((thing) => ({ ...thing, createdAt: 1n })) });
  for (const some of [things, things.slice(7), [], things.toReversed()]) {
    assert.deepEqual(encode(some), Buffer.from(toBinary(ListContainersResponseSchema, whole(some))));
    assert.deepEqual(fromBinary(ListContainersResponseSchema, encode(some)), whole(some));
  }
  assert.equal(conversions, things.length);
  const changed = { ...things[0]!, id: 'another' };
  assert.deepEqual(fromBinary(ListContainersResponseSchema, encode([changed])), whole([changed]));
});
