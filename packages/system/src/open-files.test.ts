import assert from 'node:assert/strict';
import files, { openSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { waitFor } from '@podwright/base';
import { parseMountinfo } from './mountinfo.ts';
import { BoundedReads, mountIdOf, ReadsOfProcess } from './open-files.ts';

const signal = AbortSignal.timeout(20_000);

test('while one file system hangs, no other is read', async () => {
  const reads = new BoundedReads();
  const hung = Promise.withResolvers<number>();
  const isHung = { code: 'deadline_exceeded' };
  await assert.rejects(
    reads.take(() => hung.promise),
    isHung,
  );
  let count = 0;
  const read = async () => ++count;
  await assert.rejects(reads.take(read), isHung);
  assert.equal(count, 0);
  hung.resolve(0);
  const taken = () => reads.take(read).catch(() => undefined);
  assert.equal(await waitFor(taken, { intervalMs: 1, signal }), 1);
  assert.equal(await reads.take(() => Promise.reject(new Error('stale'))), undefined);
  assert.equal(await reads.take(read), 2);
});

test('at most two hung reads per process and one per pod occur, even if more start at once', async () => {
  const all = new ReadsOfProcess();
  const [a, b, c] = [new BoundedReads(all), new BoundedReads(all), new BoundedReads(all)];
  const hung = Promise.withResolvers<void>();
  const began: string[] = [];
  const taken = Object.entries({ a1: a, a2: a, b1: b, b2: b, c1: c }).map(async ([name, reads]) => {
    const read = () => {
      began.push(name);
      return hung.promise;
    };
    await reads.take(read).catch(({ code }) => assert.equal(code, name === 'c1' ? 'unavailable' : 'deadline_exceeded'));
  });
  await Promise.all(taken);
  assert.deepEqual(began, ['a1', 'b1']);
  const read = async () => 'c2';
  hung.resolve();
  assert.equal(await waitFor(() => c.take(read).catch(() => undefined), { intervalMs: 1, signal }), 'c2');
});

test('the mount of a file is found without synchronous calls, which may block on its file system', async (context) => {
  const mounts = parseMountinfo(readFileSync('/proc/self/mountinfo'));
  const open = context.mock.method(files, 'openSync', openSync);
  syncBuiltinESMExports();
  context.after(() => {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const id = await mountIdOf('/proc/self/root');
  assert.equal(id, mounts.findLast(({ mountPoint }) => mountPoint === '/')?.id);
  assert.equal(open.mock.callCount(), 0);
  await assert.rejects(mountIdOf('/proc/self/fd/does-not-exist'), { code: 'ENOENT' });
});
