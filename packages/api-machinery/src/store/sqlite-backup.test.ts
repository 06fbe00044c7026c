import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { errorMessage } from '@podwright/base';
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts';
import { configMap, podKey } from './test-objects.fixture.ts';

let scratch: string;
let store: SqliteStore;

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'podwright-store-'));
  store = openSqliteStore(join(scratch, 'store', 'objects.db'));
});
afterEach(() => {
  store.close();
  rmSync(scratch, { recursive: true, force: true });
});

/** Writes two objects with the same text in one transaction, so that a copy of half a transaction is noticed. */
function putPair(text: string): void {
  const keys = ['one', 'other'].map((name) => podKey(name));
  store.transaction(
    keys.map((key) => {
      const expected = store.get(key)?.revision;
      const object = configMap(key.name, text);
      return expected === undefined ? { type: 'create', key, object } : { type: 'update', key, object, expected };
    }),
  );
}

const textOf = (name: string, from: SqliteStore) => (from.get(podKey(name))!.decode().data as { text: string }).text;

test('a backup taken during writes is consistent, readable by root only, and replaces an earlier one', async () => {
  const path = join(scratch, 'backup.db');
  writeFileSync(path, 'an earlier backup', { mode: 0o644 });
  for (let index = 0; index < 500; index++) store.create(podKey(`c${index}`), configMap('c', 'x'.repeat(4000)));
  putPair('begin');
  let isDone = false;
  const done = store.backup(path).finally(() => {
    isDone = true;
  });
  let writes = 0;
  for (; !isDone; writes++) {
    putPair(`text ${writes} ${'y'.repeat(writes % 5000)}`);
    await new Promise(setImmediate);
  }
  await done;
  assert.ok(writes > 3, `${writes} writes during the backup`);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(scratch).sort(), ['backup.db', 'store']);
  const restored = openSqliteStore(path);
  assert.equal(restored.list('pods').objects.length, 502);
  assert.equal(textOf('one', restored), textOf('other', restored));
  restored.close();
});

test('a restored store assigns higher revisions than the original, whatever was written after the backup', async () => {
  const path = join(scratch, 'backup.db');
  putPair('begin');
  await store.backup(path);
  for (let starts = 0; starts < 20; starts++) {
    putPair(String(starts));
    store.close();
    store = openSqliteStore(join(scratch, 'store', 'objects.db'));
  }
  const restored = openSqliteStore(path);
  assert.ok(restored.revision > store.revision, `${restored.revision} after ${store.revision}`);
  assert.equal(textOf('one', restored), 'begin');
  restored.close();
});

test('a failed backup names its path and leaves no files', async () => {
  putPair('begin');
  for (const path of [join(scratch, 'absent', 'backup.db'), join(scratch, 'store')])
    await assert.rejects(store.backup(path), (error) => {
      assert.ok(
        errorMessage(error).startsWith(`back up the objects of the API server to ${path}: `),
        errorMessage(error),
      );
      return true;
    });
  assert.deepEqual(readdirSync(scratch), ['store']);
  putPair('end');
});
