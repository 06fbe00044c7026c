import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { suite, type TestContext, test } from 'node:test';
import { Checkpoints } from './checkpoints.ts';
import { FileSync } from './file-sync.ts';
import { connect, openStoreFile } from './sqlite-file.ts';

const MIB = 1 << 20;

/** A file whose syncs do not finish until the test calls `end`. */
class HeldSync extends FileSync {
  #held: PromiseWithResolvers<void> | undefined;

  override sync(): Promise<void> {
    this.#held = Promise.withResolvers<void>();
    return this.#held.promise;
  }

  get isRunning(): boolean {
    return this.#held !== undefined;
  }

  async end(error?: Error): Promise<void> {
    const held = this.#held!;
    this.#held = undefined;
    if (error === undefined) held.resolve();
    else held.reject(error);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** An empty store's file, its checkpoints with held syncs, and a function that writes a row of a number of bytes. */
function newCheckpoints(context: TestContext) {
  const scratch = mkdtempSync(join(tmpdir(), 'podwright-checkpoints-'));
  context.after(() => rmSync(scratch, { recursive: true, force: true }));
  const path = join(scratch, 'objects.db');
  const database = openStoreFile(path);
  const [log, file] = [`${path}-wal`, path].map((one) => new HeldSync({ path: one, store: path })) as [
    HeldSync,
    HeldSync,
  ];
  const checkpoints = new Checkpoints({ database, connect: () => connect(path), log, file });
  const put = database.prepare('INSERT INTO objects VALUES (?, ?, 1, 0, ?)');
  const write = (text: string, bytes: number) => {
    put.run('pods', text, Buffer.alloc(bytes, text));
    checkpoints.written(bytes);
  };
  return { path, database, log, file, checkpoints, write };
}

const has = (path: string, text: string): boolean => readFileSync(path).includes(text.repeat(100));

/** The number of pages in the log since it was last started from its beginning. */
const logPages = (database: DatabaseSync): number =>
  (database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() as { log: number }).log;

suite('a checkpoint', () => {
  test('begins once 4 MiB were written', async (context) => {
    const { log, file, write } = newCheckpoints(context);
    write('a', 3 * MIB);
    assert.ok(!log.isRunning);
    write('b', MIB);
    assert.ok(log.isRunning && !file.isRunning);
  });

  test('copies pages only after the log was synced, and none that was written since then', async (context) => {
    const { path, log, file, write } = newCheckpoints(context);
    write('a', 4 * MIB);
    write('b', 20_000);
    assert.ok(!has(path, 'a'));
    await log.end();
    assert.ok(file.isRunning && has(path, 'a') && !has(path, 'b'));
  });

  test('keeps the pages in the log until the file was synced', async (context) => {
    const { path, database, log, file, write } = newCheckpoints(context);
    write('a', 4 * MIB);
    await log.end();
    write('b', 20_000);
    assert.ok(has(`${path}-wal`, 'a') && logPages(database) > 1000);
    await file.end();
    logPages(database); // copies b
    write('c', 20_000);
    assert.ok(logPages(database) < 20);
  });

  test('lets writes wait while the log is longer than 8 MiB', async (context) => {
    const { log, file, checkpoints, write } = newCheckpoints(context);
    write('a', 4 * MIB);
    assert.equal(checkpoints.caughtUp(), undefined);
    write('b', 5 * MIB);
    let isCaughtUp = false;
    const caughtUp = checkpoints.caughtUp()!.then(() => {
      isCaughtUp = true;
    });
    await log.end();
    await file.end();
    assert.ok(!isCaughtUp && log.isRunning);
    await log.end();
    await file.end();
    await caughtUp;
    assert.equal(checkpoints.caughtUp(), undefined);
  });

  for (const failing of ['log', 'file'] as const)
    test(`that cannot sync the ${failing} lets later writes fail, and keeps the log`, async (context) => {
      const all = newCheckpoints(context);
      const { path, database, log, checkpoints, write } = all;
      write('a', 4 * MIB);
      if (failing === 'file') await log.end();
      await all[failing].end(new Error('input/output error'));
      await assert.rejects(checkpoints.caughtUp()!, /input\/output error/);
      write('b', 5 * MIB);
      assert.ok(!log.isRunning && has(`${path}-wal`, 'a') && logPages(database) > 2000);
    });

  test('that is running when the store is closed loses nothing', async (context) => {
    const { path, database, log, file, checkpoints, write } = newCheckpoints(context);
    write('a', 4 * MIB);
    await log.end();
    checkpoints.close();
    database.close();
    await file.end();
    assert.ok(has(path, 'a'));
    openStoreFile(path).close();
  });

  test('copies the log at once if it cannot grow', (context) => {
    const { path, checkpoints, write } = newCheckpoints(context);
    write('a', MIB);
    assert.ok(checkpoints.copyNow() && has(path, 'a'));
  });
});
