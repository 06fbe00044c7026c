import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoredObject } from '@podwright/api-machinery';
import { Schema } from '@podwright/kube-schema';
import { EventEncoder, type EventEncoding, type OutputEvent } from './encode-event.ts';
import type { OutputFormat } from './negotiation.ts';

const schema = await Schema.load();
const object = StoredObject.encode('x/a', 1, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } });
const event: OutputEvent = { type: 'ADDED', object };

const encodingOf = (format: Omit<OutputFormat, 'isPretty'>, more: Partial<EventEncoding> = {}): EventEncoding => ({
  ...{ schema, resource: { group: '', version: 'v1', kind: 'ConfigMap' }, nowMs: 5000, isFirst: false },
  ...{ includeObject: 'Object', format: { isPretty: false, ...format }, ...more },
});

const TABLE: Omit<OutputFormat, 'isPretty'> = {
  mediaType: 'application/json',
  convertTo: { kind: 'Table', version: 'v1' },
};

test('watches sending an event at the same time share its encoding', async () => {
  const formats: Omit<OutputFormat, 'isPretty'>[] = [
    { mediaType: 'application/vnd.kubernetes.protobuf' },
    { mediaType: 'application/json', convertTo: { kind: 'PartialObjectMetadata', version: 'v1' } },
    TABLE,
  ];
  for (const format of formats) {
    const encoder = new EventEncoder();
    const encoding = encodingOf(format);
    const frames: object[] = await Promise.all([1, 2, 3].map(() => encoder.encode(event, encoding)));
    for (const frame of frames) assert.equal(frame, frames[0], format.mediaType);
  }
});

test('tables with different ages, rows or columns are encoded separately', async () => {
  const encoder = new EventEncoder();
  const frame = await encoder.encode(event, encodingOf(TABLE));
  const text = (parts: readonly Uint8Array[]) => Buffer.concat(parts).toString();
  assert.equal(await encoder.encode(event, encodingOf(TABLE, { nowMs: 5999 })), frame);
  assert.notEqual(await encoder.encode(event, encodingOf(TABLE, { nowMs: 6000 })), frame);
  assert.match(text(frame), /"columnDefinitions":null/);
  assert.match(text(await encoder.encode(event, encodingOf(TABLE, { isFirst: true }))), /"columnDefinitions":\[/);
  assert.match(text(await encoder.encode(event, encodingOf(TABLE, { includeObject: 'None' }))), /"object":null/);
});
