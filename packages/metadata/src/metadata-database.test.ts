import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { ChangeJournal } from './change-journal.ts';
import { openFile, readIntoMemory } from './database-file.ts';
import { MetadataDatabase } from './metadata-database.ts';

const LONG = 'x'.repeat(20_000);
const FULL = { code: 'resource_exhausted', message: /the disk is full/ };

/** Creates a database with a table `things`, on a simulated disk that the test can fill and free. */
function makeDatabase(context: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-records-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const [name, journal] = [join(directory, 'metadata.db'), join(directory, 'journal')];
  const disk = { isFull: false, journalPath: journal as string | undefined };
  const files = new Set<ReturnType<typeof openFile>>();
  const setLimits = () => {
    for (const file of files) if (file.open) file.pragma(`max_page_count = ${disk.isFull ? 1 : 1_000_000}`);
  };
  const open = () => {
    const file = openFile(name);
    files.add(file);
    setLimits();
    return file;
  };
  const start = (how = open) => {
    const options = { name, open: how, read: () => readIntoMemory(name), logger: silentLogger };
    const database = new MetadataDatabase({ ...options, journal: new ChangeJournal(disk.journalPath) });
    context.after(() => database.close());
    return database;
  };
  const things = (database: MetadataDatabase) =>
    (database.prepare('SELECT name, text FROM things ORDER BY name').all() as { name: string; text: string }[]).map(
      ({ name, text }) => `${name} ${text.length}`,
    );
  const put = (database: MetadataDatabase, thing: string, text = LONG) =>
    database.writeEvenIfFull(
      () =>
        database
          .prepare('INSERT INTO things VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET text = excluded.text')
          .run(thing, text),
      { replaces: thing },
    );
  const first = start();
  first.exec('CREATE TABLE things (name TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT');
  put(first, 'a', 'x');
  const setFull = (isFull: boolean) => {
    disk.isFull = isFull;
    setLimits();
  };
  return { name, journal, disk, start, first, put, things, setFull };
}

test('urgent changes are visible at once on a full disk, and written to the file once there is space', (context) => {
  const { first, start, put, things, setFull, journal } = makeDatabase(context);
  const count = first.prepare('SELECT count(*) AS count FROM things');
  setFull(true);
  put(first, 'b');
  put(first, 'a');
  assert.deepEqual(things(first), ['a 20000', 'b 20000']);
  assert.deepEqual(count.get(), { count: 2 });
  assert.equal(statSync(journal).mode & 0o777, 0o600);
  setFull(false);
  first.write(() => first.prepare('DELETE FROM things WHERE name = ?').run('a'));
  assert.ok(!existsSync(journal));
  assert.deepEqual(count.get(), { count: 1 });
  first.close();
  assert.deepEqual(things(start()), ['b 20000']);
});

test('other changes are refused while the disk is full, and change nothing', (context) => {
  const { first, put, things, setFull } = makeDatabase(context);
  setFull(true);
  put(first, 'b');
  const insert = first.prepare("INSERT INTO things VALUES ('c', '')");
  assert.throws(() => insert.run(), FULL);
  assert.throws(() => first.write(() => insert.run()), FULL);
  assert.throws(() => first.exec('DELETE FROM things'), FULL);
  assert.deepEqual(things(first), ['a 1', 'b 20000']);
});

test('a change that fails for any other reason throws and is rolled back, even on a full disk', (context) => {
  const { first, put, things, setFull } = makeDatabase(context);
  for (const isFull of [false, true]) {
    setFull(isFull);
    if (isFull) put(first, 'b');
    const before = things(first);
    const change = () => {
      first.prepare("DELETE FROM things WHERE name = 'a'").run();
      first.prepare("INSERT INTO things VALUES ('z', NULL)").run();
    };
    assert.throws(() => first.writeEvenIfFull(change), { code: 'SQLITE_CONSTRAINT_NOTNULL' });
    assert.deepEqual(things(first), before);
  }
});

test('pending changes are written in the background once there is space', async (context) => {
  const { first, put, setFull, journal } = makeDatabase(context);
  setFull(true);
  put(first, 'b');
  assert.ok(existsSync(journal));
  setFull(false);
  const atMost = AbortSignal.timeout(10_000);
  while (existsSync(journal)) {
    atMost.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

test('a crash loses no journaled changes, whether or not the disk is still full, and a truncated line is ignored', (context) => {
  const { first, start, put, things, setFull, journal } = makeDatabase(context);
  setFull(true);
  put(first, 'b');
  first.close(); // without space the change stays in the journal, as after a crash
  appendFileSync(journal, '[{"sql":"INSERT IN');
  const second = start();
  assert.deepEqual(things(second), ['a 1', 'b 20000']);
  put(second, 'c');
  second.close();
  const leftover = readFileSync(journal);
  setFull(false);
  const third = start();
  assert.deepEqual(things(third), ['a 1', 'b 20000', 'c 20000']);
  assert.ok(!existsSync(journal));
  put(third, 'b', 'new');
  third.close();
  appendFileSync(journal, leftover); // as after a crash before the journal was removed
  assert.deepEqual(things(start()), ['a 1', 'b 3', 'c 20000']);
});

test('a journal that is damaged, or does not match the records, is ignored', (context) => {
  const { first, start, put, things, setFull, journal } = makeDatabase(context);
  first.close();
  for (const damage of ['{\n', '[{"sql":"DELETE FROM nothing","values":[]}]\n']) {
    setFull(true);
    const database = start();
    put(database, 'b');
    database.close();
    appendFileSync(journal, damage);
    setFull(false);
    const next = start();
    assert.deepEqual(things(next), ['a 1']);
    assert.ok(!existsSync(journal));
    next.close();
  }
});

test('a journal with one mismatched entry is ignored entirely, even while the disk is full', (context) => {
  const { first, start, put, things, setFull, journal } = makeDatabase(context);
  setFull(true);
  put(first, 'b');
  first.close();
  appendFileSync(journal, '[{"sql":"DELETE FROM nothing","values":[]}]\n');
  const second = start();
  assert.deepEqual(things(second), ['a 1']);
  assert.ok(!existsSync(journal));
  setFull(false);
  second.write(() => undefined);
  assert.deepEqual(things(second), ['a 1']);
});

test('opening fails if the journal is unreadable, and the journal is kept', (context) => {
  const { first, start, journal } = makeDatabase(context);
  first.close();
  const refusal = { message: /^read the journal .*\/journal: it is not a regular file/ };
  mkdirSync(join(journal, 'below'), { recursive: true });
  assert.throws(start, refusal);
  assert.ok(existsSync(join(journal, 'below')));
  rmSync(journal, { recursive: true });
  execFileSync('mkfifo', [journal]);
  assert.throws(start, refusal);
  rmSync(journal);
  start(); // the failed start has released the lock of the file
});

test('the journal is not discarded on errors other than a full disk or damage', (context) => {
  const { name, first, start, put, things, setFull, journal } = makeDatabase(context);
  setFull(true);
  put(first, 'b');
  first.close();
  setFull(false);
  const failing = () => {
    const file = openFile(name);
    const { transaction } = file;
    file.transaction = (() => {
      file.transaction = transaction;
      throw Object.assign(new Error('out of memory'), { code: 'SQLITE_NOMEM' });
    }) as unknown as typeof transaction;
    return file;
  };
  assert.throws(() => start(failing), { code: 'SQLITE_NOMEM' });
  assert.ok(existsSync(journal));
  assert.deepEqual(things(start()), ['a 1', 'b 20000']);
});

test('changes are applied only once, even if the journal cannot be removed afterwards', (context) => {
  const { first, setFull, put, journal } = makeDatabase(context);
  first.exec('CREATE TABLE counted (number INTEGER) STRICT');
  const insert = first.prepare('INSERT INTO counted VALUES (1)');
  setFull(true);
  put(first, 'b');
  first.writeEvenIfFull(() => insert.run());
  rmSync(journal);
  mkdirSync(join(journal, 'below'), { recursive: true });
  setFull(false);
  insert.run();
  insert.run();
  assert.deepEqual(first.prepare('SELECT count(*) AS rows FROM counted').get(), { rows: 3 });
  rmSync(journal, { recursive: true });
  setFull(true);
  put(first, 'c');
  assert.equal(readFileSync(journal, 'utf8').split('\n').length, 3, 'a header and one entry');
});

test('only the last of several superseding changes is saved, in memory and in the journal, even after a crash', (context) => {
  const { first, start, put, things, setFull, journal } = makeDatabase(context);
  const remove = (database: MetadataDatabase, thing: string) =>
    database.writeEvenIfFull(() => database.prepare('DELETE FROM things WHERE name = ?').run(thing), {
      replaces: thing,
    });
  setFull(true);
  put(first, 'b');
  for (let round = 0; round < 500; round++) put(first, 'a', LONG.slice(round));
  remove(first, 'b');
  const limit = 150 * LONG.length;
  assert.ok(statSync(journal).size < limit, `${statSync(journal).size} bytes`);
  first.close();
  const second = start();
  assert.deepEqual(things(second), ['a 19501']);
  for (let round = 0; round < 200; round++) put(second, 'a', LONG.slice(round));
  assert.ok(statSync(journal).size < limit, `${statSync(journal).size} bytes`);
  assert.equal(statSync(journal).mode & 0o777, 0o600);
  second.close();
  setFull(false);
  assert.deepEqual(things(start()), ['a 19801']);
});

for (const isFull of [false, true])
  test(`a change within a change is refused${isFull ? ' while the disk is full' : ''}, and leaves the records intact`, (context) => {
    const { first, put, things, setFull } = makeDatabase(context);
    setFull(isFull);
    put(first, 'b', '');
    const change = () => put(first, 'c', '');
    for (const inner of [() => first.write(change), () => first.writeEvenIfFull(change), change])
      assert.throws(() => first.writeEvenIfFull(inner), { code: 'internal', message: /within another change/ });
    setFull(false);
    assert.throws(() => first.write(change), { code: 'internal' });
    assert.deepEqual(things(first), ['a 1', 'b 0']);
  });

test('changes are kept only in memory if the journal cannot be written either', (context) => {
  const { first, disk, start, put, things, setFull } = makeDatabase(context);
  first.close();
  disk.journalPath = `${first.name}-none/journal`;
  const database = start();
  setFull(true);
  put(database, 'b');
  assert.deepEqual(things(database), ['a 1', 'b 20000']);
});

test('a database that cannot be opened on a full disk is read into memory, and opened later', (context) => {
  const { first, start, things, put } = makeDatabase(context);
  first.close();
  let isFull = true;
  const database = start(() => {
    if (isFull) throw Object.assign(new Error('unable to open database file'), { code: 'SQLITE_CANTOPEN' });
    return openFile(first.name);
  });
  put(database, 'b', '');
  assert.deepEqual(things(database), ['a 1', 'b 0']);
  isFull = false;
  database.write(() => undefined);
  database.close();
  assert.deepEqual(things(start()), ['a 1', 'b 0']);
});
