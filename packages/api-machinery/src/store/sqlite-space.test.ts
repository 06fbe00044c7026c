/** Soak test: the file stays smaller than twice the size of the live objects, and the write-ahead log stays bounded. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts';
import { configMap, podKey } from './test-objects.fixture.ts';

const OBJECTS = 600;
const WRITES = 6_000;
/** Limit for the size of the write-ahead log if writers wait until their writes are durable. */
const MAX_LOG_BYTES = 10 << 20;
/** Writes between two waits, as of many clients at the same time. */
const WRITES_AT_ONCE = 100;

/** How much the file size may exceed twice the size of the live objects, because of unused pages and the first pages of the file. */
const SPARE_BYTES = 16 * 4096;

/** Returns a seeded random number generator (mulberry32), to make failures reproducible. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Creates, replaces or deletes a random object. */
function churn(store: SqliteStore, random: (below: number) => number, maxBytes: number): void {
  const key = podKey(`c${random(OBJECTS)}`);
  const revision = store.get(key)?.revision;
  const object = configMap(key.name, 'x'.repeat(random(maxBytes)));
  if (revision === undefined) store.create(key, object);
  else if (random(4) === 0) store.delete(key, revision);
  else store.update(key, object, revision);
}

/** Opens the store, calls `change` and closes it. Returns the sizes of the file and of the live objects. */
async function sizesAfter(
  path: string,
  change: (store: SqliteStore) => void | Promise<void>,
): Promise<{ fileBytes: number; liveBytes: number }> {
  const store = openSqliteStore(path);
  try {
    await change(store);
    const { objects } = store.list('pods');
    const liveBytes = objects.reduce((sum, { bytes }) => sum + bytes.length, 0);
    store.close();
    return { fileBytes: statSync(path).size, liveBytes };
  } catch (error) {
    store.close();
    throw error;
  }
}

function deleteMost(store: SqliteStore): void {
  for (const { key, revision } of store.list('pods').objects.slice(OBJECTS / 10))
    store.delete(podKey(key.split('/')[1]!), revision);
}

for (const maxBytes of [400, 5_000, 20_000])
  test(`${WRITES} writes of ${OBJECTS} objects of up to ${maxBytes} bytes`, async (context) => {
    const scratch = mkdtempSync(join(tmpdir(), 'podwright-store-'));
    context.after(() => rmSync(scratch, { recursive: true, force: true }));
    const path = join(scratch, 'objects.db');
    const random = randomNumbers(maxBytes);
    const full = await sizesAfter(path, async (store) => {
      for (let write = 0; write < WRITES; write++) {
        churn(store, random, maxBytes);
        if (write % WRITES_AT_ONCE !== 0) continue;
        await store.untilDurable();
        assert.ok(statSync(`${path}-wal`).size < MAX_LOG_BYTES);
      }
    });
    assert.ok(full.fileBytes < 2 * full.liveBytes + SPARE_BYTES, JSON.stringify(full));
    const small = await sizesAfter(path, deleteMost);
    assert.ok(small.fileBytes < 2 * small.liveBytes + SPARE_BYTES, JSON.stringify(small));
  });
