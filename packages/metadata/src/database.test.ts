import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { migrate, openDatabase } from './database.ts';

function scratch(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-records-'));
  context.after(() => rmSync(directory, { recursive: true }));
  return join(directory, 'metadata.db');
}

/** Creates a database whose records fill several pages. */
function fill(path: string): void {
  const database = openDatabase(path);
  database.exec('CREATE TABLE things (name TEXT PRIMARY KEY) STRICT');
  const insert = database.prepare('INSERT INTO things VALUES (?)');
  database.write(() => {
    for (let index = 0; index < 500; index++) insert.run(`${index}`.padStart(200, 'x'));
  });
  database.close();
}

const damages: [string, (path: string) => void][] = [
  ['truncated in the middle', (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
  ['not an SQLite database', (path) => writeFileSync(path, 'a letter to my mother'.repeat(500))],
  ['overwritten in the middle', (path) => writeFileSync(path, Buffer.alloc(40_000, 'x'), { flag: 'r+' })],
];
for (const [what, damage] of damages) {
  test(`a file that is ${what} is refused with advice, and not changed`, (context) => {
    const path = scratch(context);
    fill(path);
    damage(path);
    const before = readFileSync(path);
    assert.throws(() => openDatabase(path), { code: 'data_loss', message: /metadata\.db.* is damaged.*move .* away/ });
    assert.ok(readFileSync(path).equals(before));
  });
}

test('a FIFO is rejected with advice and is not opened', (context) => {
  const path = scratch(context);
  execFileSync('mkfifo', [path]);
  assert.throws(() => openDatabase(path), { code: 'data_loss', message: /not a regular file.*move .* away/ });
});

test('a database with the former version table name is migrated, including its versions', (context) => {
  const path = scratch(context);
  const before = new Database(path);
  before.exec('CREATE TABLE rooms (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT');
  before.exec('CREATE TABLE things (name TEXT PRIMARY KEY) STRICT');
  before.exec("INSERT INTO rooms VALUES ('things', 1); INSERT INTO things VALUES ('one')");
  before.close();
  for (const _ of ['the first start', 'the next one']) {
    const database = openDatabase(path);
    migrate(database, 'things', [
      'CREATE TABLE things (name TEXT PRIMARY KEY) STRICT',
      "INSERT INTO things VALUES ('two')",
    ]);
    assert.deepEqual(database.prepare('SELECT name FROM things').all(), [{ name: 'one' }, { name: 'two' }]);
    assert.deepEqual(database.prepare('SELECT * FROM schema_versions').all(), [{ name: 'things', version: 2 }]);
    assert.throws(() => migrate(database, 'things', []), { code: 'failed_precondition' });
    database.close();
  }
});

test('records can be opened after a failed start of an earlier Podwright, which leaves an empty table', (context) => {
  const path = scratch(context);
  const steps = ['CREATE TABLE things (name TEXT PRIMARY KEY) STRICT'];
  const start = () => {
    const database = openDatabase(path);
    migrate(database, 'things', steps);
    return database;
  };
  start().close();
  const earlier = new Database(path);
  earlier.exec('CREATE TABLE IF NOT EXISTS rooms (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT');
  assert.throws(() => earlier.exec(steps[0]!), /table things already exists/);
  earlier.close();
  const database = start();
  assert.deepEqual(database.prepare('SELECT * FROM schema_versions').all(), [{ name: 'things', version: 1 }]);
  assert.equal(database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'rooms'").get(), undefined);
  database.close();
});
