import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { migrate, openDatabase } from './database.ts';
import { RecordTable } from './record-table.ts';

type Thing = { id: string; name: string; color: string };

function openThings(path = ':memory:') {
  const database = openDatabase(path);
  migrate(database, 'things', [
    'CREATE TABLE things (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, record TEXT NOT NULL) STRICT',
  ]);
  return { database, things: new RecordTable<Thing>(database, 'things', 'thing') };
}

test('records are found by id, by name and by a prefix that only one id has', () => {
  const { things } = openThings();
  things.put({ id: 'abc1', name: 'first', color: 'red' });
  things.put({ id: 'abd2', name: 'second', color: 'blue' });
  assert.equal(things.get('abc1')?.color, 'red');
  assert.equal(things.byName('second')?.id, 'abd2');
  assert.equal(things.find('abc')?.name, 'first');
  assert.equal(things.find(''), undefined);
  assert.equal(things.find('x'), undefined);
  assert.throws(() => things.find('ab'), { code: 'invalid_argument' });
  assert.throws(() => things.require('x'), { code: 'not_found', message: 'thing "x" not found' });
});

test('records are there again after the file is opened anew, in order of creation', () => {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-records-'));
  try {
    const first = openThings(join(directory, 'db'));
    first.things.put({ id: 'b', name: 'one', color: 'red' });
    first.things.put({ id: 'a', name: 'two', color: 'red' });
    first.things.update('b', (thing) => ({ ...thing, color: 'green' }));
    first.things.put({ id: 'c', name: 'three', color: 'red' });
    first.things.delete('c');
    assert.equal(
      first.things.update('c', (thing) => thing),
      undefined,
    );
    first.database.close();
    const second = openThings(join(directory, 'db'));
    assert.deepEqual(
      second.things.list().map(({ id, color }) => [id, color]),
      [
        ['b', 'green'],
        ['a', 'red'],
      ],
    );
    second.database.close();
  } finally {
    rmSync(directory, { recursive: true });
  }
});
