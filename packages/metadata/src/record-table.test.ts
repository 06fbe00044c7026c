import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { migrate, openDatabase } from './database.ts';
import { type DamagedRecord, RecordTable } from './record-table.ts';

type Thing = { id: string; name: string; color: string };

function openThings(path = ':memory:', journal?: string) {
  const database = openDatabase(path, { journal });
  migrate(database, 'things', [
    'CREATE TABLE things (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, record TEXT NOT NULL) STRICT',
  ]);
  const damaged: DamagedRecord[] = [];
  const open = () =>
    new RecordTable<Thing>(database, {
      table: 'things',
      noun: 'thing',
      version: 1,
      decode: decodeThing,
      onDamaged: (row) => damaged.push(row),
    });
  const write = (row: { id: string; name?: string; record: string }) =>
    database.prepare('INSERT INTO things VALUES (?, ?, ?)').run(row.id, row.name ?? row.id, row.record);
  return { database, things: open(), open, write, damaged };
}

/** Decodes a record. Version 0 of the format had no color. */
function decodeThing(value: unknown, version: number): Thing {
  const { id, name, color } = value as Thing;
  if (version === 0) return { id, name, color: 'gray' };
  if (typeof color !== 'string') throw new Error('color: it is not a string');
  return { id, name, color };
}

test('records are found by id, by name and by a unique prefix of the id', () => {
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

test('records are returned in creation order after the file is reopened', () => {
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

test('records are stored with a version, and records without one are read as version 0', () => {
  const { database, things, open, write } = openThings();
  things.put({ id: 'a', name: 'one', color: 'red' });
  const { record } = database.prepare('SELECT record FROM things').get() as { record: string };
  assert.deepEqual(JSON.parse(record), { recordVersion: 1, id: 'a', name: 'one', color: 'red' });
  write({ id: 'b', record: '{"id":"b","name":"b"}' });
  assert.deepEqual(
    open()
      .list()
      .map(({ color }) => color),
    ['red', 'gray'],
  );
});

test('the error for a record with a newer version names that version, and nothing is changed', () => {
  const { database, open, write, damaged } = openThings();
  write({ id: 'a', record: '{' });
  write({ id: 'b', record: '{"recordVersion":2,"id":"b","name":"b"}' });
  assert.throws(open, { code: 'failed_precondition', message: /the record of thing b has version 2, .* up to 1/ });
  assert.deepEqual([database.prepare('SELECT id FROM things').all().length, damaged], [2, []]);
});

test('a damaged row is reported with its field and deleted, unless most rows are damaged', () => {
  const { open, write, damaged } = openThings();
  const rows = {
    a: ['{"id":', 'record: it is not a JSON object'],
    b: ['[]', 'record: it is not a JSON object'],
    c: ['{"recordVersion":1,"id":"c","name":"c","color":7}', 'color: it is not a string'],
    d: ['{"recordVersion":1,"id":"x","name":"d","color":"red"}', 'id: it differs from the column of its row'],
    e: ['{"recordVersion":1,"id":"e","name":"x","color":"red"}', 'name: it differs from the column of its row'],
    f: ['{"recordVersion":"1","id":"f","name":"f"}', 'recordVersion: it is not a number'],
  };
  for (const [id, [record]] of Object.entries(rows)) write({ id, record: record! });
  assert.throws(open, { code: 'data_loss', message: /6 damaged records in things, 0 valid; the first is a: / });
  assert.deepEqual(damaged, []);
  const valid = ['g', 'h', 'i', 'j', 'k', 'l'];
  for (const id of valid) write({ id, record: `{"recordVersion":1,"id":"${id}","name":"${id}","color":"red"}` });
  const things = open();
  assert.deepEqual(
    damaged.map(({ table, id, reason }) => [table, id, reason]),
    Object.entries(rows).map(([id, [, reason]]) => ['things', id, reason]),
  );
  assert.deepEqual(
    things.list().map(({ id }) => id),
    valid,
  );
  things.put({ id: 'new', name: 'a', color: 'red' });
  assert.equal(open().list().length, 7);
});

test('frequent updates of a record take up little journal space while the disk is full', (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-records-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const [path, journal] = [join(directory, 'metadata.db'), join(directory, 'journal')];
  const { database, things } = openThings(path, journal);
  things.put({ id: '1', name: 'first', color: 'red' });
  things.put({ id: '2', name: 'second', color: 'blue' });
  const setPages = database.prepare('PRAGMA max_page_count = 1');
  setPages.get(); // SQLite raises this to the current size, so the database cannot grow
  for (let round = 0; round < 1000; round++) things.update('1', (one) => ({ ...one, color: `${round}`.padEnd(5000) }));
  things.delete('2');
  assert.ok(statSync(journal).size < 500_000, `${statSync(journal).size} bytes`);
  database.close();
  const next = openThings(path, journal);
  assert.deepEqual(
    next.things.list().map(({ id, color }) => `${id} ${color.trim()}`),
    ['1 999'],
  );
  next.database.close();
});
