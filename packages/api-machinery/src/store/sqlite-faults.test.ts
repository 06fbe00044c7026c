/** Tests of damaged files, files of other programs or versions, and full or read-only disks. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, suite, test } from 'node:test';
import { errorCode, errorMessage } from '@podwright/base';
import { MemoryStore } from './memory-store.ts';
import { openStoreFile } from './sqlite-file.ts';
import { SqliteJournal } from './sqlite-journal.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { configMap, podKey, take } from './test-objects.fixture.ts';

const PAGE_BYTES = 4096;

const scratch = mkdtempSync(join(tmpdir(), 'podwright-store-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

let files = 0;
const newPath = () => join(scratch, String(files++), 'objects.db');

/** Returns the path of a closed store with 50 objects. */
function filledPath(): string {
  const path = newPath();
  const store = openSqliteStore(path);
  for (let index = 0; index < 50; index++)
    store.create(podKey(`c${index}`), configMap(`c${index}`, 'text'.repeat(300)));
  store.close();
  return path;
}

function checkRefused(path: string, code: string, words: RegExp): void {
  assert.throws(
    () => openSqliteStore(path),
    (error) => {
      assert.match(errorMessage(error), words);
      assert.equal(errorCode(error), code);
      assert.ok(errorMessage(error).includes(path), errorMessage(error));
      return true;
    },
  );
}

suite('a file that is no whole store', () => {
  const checkDamage = (change: (content: Buffer) => void) => {
    const path = filledPath();
    const content = readFileSync(path);
    change(content);
    writeFileSync(path, content);
    checkRefused(path, 'data_loss', /the file is damaged: .*; restore a backup of it, or move it away/);
    assert.deepEqual(readFileSync(path), content);
  };

  test('is refused if its start is overwritten', () => checkDamage((content) => content.fill(7, 0, 100)));
  // page 2 is the pointer map; no object is read from it, but damage to it must be noticed as well
  for (const page of [2, 5])
    test(`is refused if page ${page} is overwritten`, () =>
      checkDamage((content) => content.fill(0xa5, (page - 1) * PAGE_BYTES, page * PAGE_BYTES)));
  test('is refused if it is truncated', () => {
    const path = filledPath();
    writeFileSync(path, readFileSync(path).subarray(0, 6 * PAGE_BYTES));
    checkRefused(path, 'data_loss', /the file is damaged/);
  });
  test('is refused if one character of an object has changed', () => {
    const path = filledPath();
    const database = new DatabaseSync(path);
    database.exec(
      `UPDATE objects SET object = CAST(replace(object, 'ttext', 'tText') AS BLOB) WHERE key = 'default/c7'`,
    );
    database.close();
    checkRefused(path, 'data_loss', /the file is damaged: the checksum of pods default\/c7 is wrong; restore a backup/);
  });

  test('is refused if it is not a regular file', () => {
    const path = newPath();
    mkdirSync(path, { recursive: true });
    checkRefused(path, 'unknown', /it is not a regular file/);
  });

  test('is refused if it is the database of another program', () => {
    const path = newPath();
    mkdirSync(join(path, '..'));
    new DatabaseSync(path).exec('CREATE TABLE other (x); INSERT INTO other VALUES (1)');
    checkRefused(path, 'unknown', /no such table: store/);
  });

  test('is refused, and left unchanged, if it was written by a newer version', () => {
    const path = filledPath();
    const database = new DatabaseSync(path);
    database.exec('UPDATE store SET version = 2; PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
    const content = readFileSync(path);
    checkRefused(path, 'failed_precondition', /the file has version 2, this Podwright supports up to 1/);
    assert.deepEqual(readFileSync(path), content);
  });

  test('that is empty, as after a crash at its creation, becomes a store', () => {
    const path = newPath();
    mkdirSync(join(path, '..'));
    writeFileSync(path, '');
    const store = openSqliteStore(path);
    store.create(podKey('a'), configMap('a', 'text'));
    store.close();
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });
});

suite('a file that cannot be written', () => {
  function checkUnwritable({
    forbid,
    permit,
    code,
    words,
  }: Record<'forbid' | 'permit' | 'code', string> & { words: RegExp }) {
    const path = filledPath();
    const database = openStoreFile(path);
    const store = new MemoryStore(
      { volatile: ['leases'] },
      new SqliteJournal({ path, database, failpoint: () => undefined }),
    );
    const large = configMap('large', 'x'.repeat(100_000));
    const lease = store.create({ ...podKey('n'), resource: 'leases' }, configMap('n', ''));
    const { revision } = store;
    database.exec(forbid);
    const before = store.list('pods').objects;
    for (const write of [
      () => store.create(podKey('large'), large),
      () => store.update(podKey('c7'), large, before.find(({ key }) => key === 'default/c7')!.revision),
    ])
      assert.throws(write, (error) => {
        assert.equal(errorCode(error), code);
        assert.match(errorMessage(error), words);
        assert.ok(errorMessage(error).includes(path));
        return true;
      });
    assert.equal(store.revision, revision);
    assert.deepEqual(store.list('pods').objects, before);
    store.update({ ...podKey('n'), resource: 'leases' }, configMap('n', ''), lease.revision);
    database.exec(permit);
    const created = store.create(podKey('large'), large);
    store.close();
    const again = openSqliteStore(path);
    assert.deepEqual(again.get(podKey('large'))?.bytes, created.bytes);
    assert.equal(again.list('pods').objects.length, before.length + 1);
    again.close();
  }

  test('because the disk is full: reads and volatile writes go on, other writes fail, nothing is lost', () =>
    checkUnwritable({
      forbid: 'PRAGMA max_page_count = 1', // SQLite sets it to the present size
      permit: 'PRAGMA max_page_count = 100000',
      code: 'resource_exhausted',
      words: /the disk is full; free some disk space/,
    }));

  test('because it is read-only: the same', () =>
    checkUnwritable({
      forbid: 'PRAGMA query_only = ON',
      permit: 'PRAGMA query_only = OFF',
      code: 'unavailable',
      words: /readonly database; check the disk and whether its file system is mounted read-only/,
    }));

  test('at one time: the write is undone, the next one succeeds', () => {
    const path = newPath();
    let failures = 1;
    const failpoint = (stage: string) => {
      if (stage === 'record/written' && failures-- > 0) throw new Error('no');
    };
    const store = openSqliteStore(path, { failpoint });
    assert.throws(() => store.create(podKey('a'), configMap('a', '')), /no$/);
    assert.equal(store.get(podKey('a')), undefined);
    store.create(podKey('b'), configMap('b', ''));
    store.close();
    const again = openSqliteStore(path);
    assert.deepEqual(
      again.list('pods').objects.map(({ key }) => key),
      ['default/b'],
    );
    again.close();
  });

  test('sends no events of writes that failed', async () => {
    const path = filledPath();
    const database = openStoreFile(path);
    const store = new MemoryStore({}, new SqliteJournal({ path, database, failpoint: () => undefined }));
    const watch = store.watch('pods', { from: store.revision });
    database.exec('PRAGMA query_only = ON');
    assert.throws(() => store.create(podKey('refused'), configMap('refused', '')));
    database.exec('PRAGMA query_only = OFF');
    const { revision } = store.create(podKey('made'), configMap('made', ''));
    assert.deepEqual(
      (await take(watch, 1)).map(({ object }) => object.revision),
      [revision],
    );
    store.close();
  });
});
