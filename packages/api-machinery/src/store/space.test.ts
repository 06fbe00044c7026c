import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { MemoryStore } from './memory-store.ts';
import type { ObjectStore, SpaceClass } from './object-store.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { OutOfSpace } from './store-errors.ts';
import { configMap, podKey } from './test-objects.fixture.ts';

const LIMITS = { maxObjectBytes: 5_000, maxBytes: 16_000 };

/** Writes an object of roughly this size and returns its revision. */
function put(store: ObjectStore, name: string, bytes: number, space: SpaceClass = 'ordinary'): number {
  const key = podKey(name);
  const object = configMap(name, 'x'.repeat(bytes));
  const expected = store.get(key)?.revision;
  const write =
    expected === undefined
      ? ({ type: 'create', key, object, space } as const)
      : ({ type: 'update', key, object, expected, space } as const);
  return store.transaction([write])[0]!.revision;
}

const refuses = (work: () => unknown, message: RegExp) =>
  assert.throws(work, (error) => error instanceof OutOfSpace && message.test(error.message));
const FULL = /^etcdserver: mvcc: database space exceeded: /;

test('an object may not grow beyond the limit, but an oversized one may shrink', () => {
  const store = new MemoryStore({ space: LIMITS });
  put(store, 'a', 6_000, 'unbounded');
  refuses(() => put(store, 'a', 6_001), /^etcdserver: request is too large: the object would have 6\d+ bytes/);
  put(store, 'a', 5_900);
  refuses(() => put(store, 'b', 5_000, 'reserve'), /request is too large/);
  put(store, 'b', 4_000);
});

test('a full store accepts deletions, writes that do not grow, and writes entitled to the reserve', () => {
  const refused: object[] = [];
  const store = new MemoryStore({ space: { ...LIMITS, onFull: (sizes) => refused.push(sizes) } });
  for (const name of ['a', 'b', 'c']) put(store, name, 4_500);
  refuses(() => put(store, 'd', 3_000), FULL);
  refuses(() => put(store, 'd', 3_000), FULL);
  assert.deepEqual(refused, [{ bytes: store.bytes, maxBytes: 16_000 }]);
  put(store, 'a', 4_500);
  put(store, 'd', 2_500, 'half-reserve');
  refuses(() => put(store, 'e', 800, 'half-reserve'), FULL);
  put(store, 'e', 800, 'reserve');
  refuses(() => put(store, 'f', 800, 'reserve'), FULL);
  put(store, 'f', 800, 'unbounded');
  refuses(() => put(store, 'g', 1), FULL);
  for (const name of ['a', 'b']) store.delete(podKey(name), store.get(podKey(name))!.revision);
  put(store, 'g', 3_000);
  put(store, 'h', 3_000);
  refuses(() => put(store, 'i', 4_500), FULL);
  assert.equal(refused.length, 2);
});

test('a store counts the objects of earlier processes', () => {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-space-'));
  try {
    const path = join(directory, 'objects.db');
    const before = openSqliteStore(path, { space: LIMITS });
    for (const name of ['a', 'b', 'c']) put(before, name, 4_500);
    const { bytes } = before;
    before.close();
    const store = openSqliteStore(path, { space: LIMITS });
    assert.equal(store.bytes, bytes);
    refuses(() => put(store, 'd', 3_000), FULL);
    store.close();
  } finally {
    rmSync(directory, { recursive: true });
  }
});
