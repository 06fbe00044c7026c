import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ContainerSchema, ListContainersResponseSchema } from '../messages.ts';
import { encodeOnce, listResponse } from './encoded-lists.ts';

type Record = { id: string; labels: { [name: string]: string } };

const one: Record = { id: 'a', labels: { app: 'x'.repeat(300) } };
const two: Record = { id: 'b', labels: {} };
const { containers } = ListContainersResponseSchema.field;

test('a list of encoded items is on the wire what the list of messages is', () => {
  const encoded = encodeOnce(ContainerSchema, (record: Record) => record);
  const bytes = toBinary(
    ListContainersResponseSchema,
    listResponse(ListContainersResponseSchema, containers, [one, two].map(encoded)),
  );
  const plain = create(ListContainersResponseSchema, { containers: [one, two] });
  assert.deepEqual(bytes, toBinary(ListContainersResponseSchema, plain));
  assert.deepEqual(fromBinary(ListContainersResponseSchema, bytes), plain);
});

test('a record is encoded once, and anew when another took its place', () => {
  let conversions = 0;
  const encoded = encodeOnce(ContainerSchema, (record: Record) => {
    conversions++;
    return record;
  });
  assert.equal(encoded(one), encoded(one));
  assert.equal(conversions, 1);
  assert.notDeepEqual(encoded({ ...one, labels: {} }), encoded(one));
  assert.equal(conversions, 2);
});
