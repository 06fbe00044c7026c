import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tableOf } from './server-table.ts';

test('a server’s table is read including its wide columns', () => {
  const object = { kind: 'PartialObjectMetadata', metadata: { name: 'web', namespace: 'shop' } };
  const table = tableOf({
    kind: 'Table',
    metadata: { resourceVersion: '7' },
    columnDefinitions: [{ name: 'Name', priority: 0 }, { name: 'Up-to-date' }, { name: 'Images', priority: 1 }],
    rows: [{ cells: ['web', 2, null], object }],
  });
  assert.deepEqual(table.columns, [
    { title: 'NAME', wide: false },
    { title: 'UP-TO-DATE', wide: false },
    { title: 'IMAGES', wide: true },
  ]);
  assert.deepEqual(table.rows, [{ metadata: object.metadata, cells: ['web', '2', '<none>'], object }]);
  assert.equal(table.resourceVersion, '7');
});

test('lists that an API server sends as null are empty', () => {
  const none = { columns: [], rows: [], resourceVersion: '' };
  assert.deepEqual(tableOf({ kind: 'Table', columnDefinitions: null, rows: null }), none);
  assert.deepEqual(tableOf({ kind: 'List', items: null }).rows, []);
});

test('objects from a server without Table support are listed by name', () => {
  const { columns, rows } = tableOf({ kind: 'List', items: [{ metadata: { name: 'a', creationTimestamp: 't' } }] });
  assert.deepEqual([columns.length, rows.map(({ cells }) => cells)], [2, [['a', 't']]]);
});
