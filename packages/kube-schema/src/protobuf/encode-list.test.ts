import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Schema } from '../schema/schema.ts';
import { encodeListItem, listFrame } from './encode-list.ts';
import { encodeObject } from './object-codec.ts';

const schema = await Schema.load();

test('a list encoded item by item has the same bytes as one encoded at once', () => {
  for (const count of [0, 1, 300]) {
    const metadata = { resourceVersion: '7', continue: count === 1 ? 'next' : '' };
    const list = { apiVersion: 'v1', kind: 'ConfigMapList', metadata };
    const items = Array.from({ length: count }, (_, index) => ({
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      ...{ metadata: { name: `c${index}` }, data: { a: 'x'.repeat(index) } },
    }));
    const encoded = items.map((item) => encodeListItem(schema, item));
    const itemsBytes = encoded.reduce((sum, { length }) => sum + length, 0);
    const { begin, end } = listFrame(schema, { ...list, items: [] }, itemsBytes);
    assert.ok(Buffer.concat([begin, ...encoded, end]).equals(encodeObject(schema, { ...list, items })), `${count}`);
  }
});

test('objects of unknown kinds are refused', () => {
  const object = { apiVersion: 'v9', kind: 'Nothing' };
  assert.throws(() => encodeListItem(schema, object), { code: 'not_found' });
  assert.throws(() => listFrame(schema, object, 0), { code: 'not_found' });
});
