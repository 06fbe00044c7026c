import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@podwright/base';
import { TreeMeasures } from './tree-measures.ts';

const FILES = 30_000;

/** Creates a directory on a tmpfs with the given number of empty files. */
function tree(t: TestContext, files: number): string {
  const directory = mkdtempSync('/dev/shm/podwright-measures-');
  t.after(() => rmSync(directory, { recursive: true }));
  execFileSync('sh', ['-c', `seq ${files} | xargs touch`], { cwd: directory });
  return directory;
}

/** Measures trees so slowly, with almost no CPU time, that a walk over `FILES` files takes more than a minute. */
const slow = (options = {}) => new TreeMeasures({ cpuShare: 0.001, burstMs: 0, waitMs: 300, ...options });

test('concurrent calls share a measurement, and later calls use its result as long as it is valid', async (t) => {
  const directory = tree(t, 100);
  const measures = new TreeMeasures({ cpuShare: 1 });
  const [first, second] = await Promise.all([measures.of(directory), measures.of(directory)]);
  assert.equal(first.atMs, second.atMs);
  assert.deepEqual([first.usage.inodes, first.isPartial], [101, false]);
  writeFileSync(join(directory, 'another'), '');
  assert.equal((await measures.of(directory)).usage.inodes, 101);
  const isMeasuredAgain = async () => (await measures.of(directory)).usage.inodes === 102;
  await waitFor(isMeasuredAgain, { intervalMs: 50, signal: AbortSignal.timeout(10_000) });
});

test('the last measurement of a tree that is no longer written stays valid', async (t) => {
  const directory = tree(t, 100);
  const measures = new TreeMeasures({ cpuShare: 1 });
  const { atMs } = await measures.of(directory, { isFinal: true });
  await sleep(600);
  assert.equal((await measures.of(directory)).atMs, atMs);
});

test('a partial measurement is soon replaced, as the next one may be complete', async (t) => {
  const directory = tree(t, FILES);
  const measures = new TreeMeasures({ cpuShare: 1, timeoutMs: 60 });
  const first = await measures.of(directory);
  assert.ok(first.isPartial);
  await sleep(700);
  assert.notEqual((await measures.of(directory)).atMs, first.atMs);
});

test('a call for a slow tree returns the count so far, and another tree is measured meanwhile', async (t) => {
  const [large, small] = [tree(t, FILES), tree(t, 100)];
  const measures = slow();
  const startedAtMs = performance.now();
  const all = Array.from({ length: 3 }, () => measures.of(large));
  const { usage, isPartial } = await measures.of(small);
  assert.deepEqual([usage.inodes, isPartial], [101, false]);
  for (const one of await Promise.all(all)) {
    assert.ok(one.isPartial);
    assert.ok(one.usage.inodes > 1 && one.usage.inodes < FILES, `${one.usage.inodes} inodes`);
  }
  const tookMs = performance.now() - startedAtMs;
  assert.ok(tookMs < 2000, `${tookMs} ms`);
});

test('later calls for a slow tree do not wait', async (t) => {
  const directory = tree(t, FILES);
  const measures = slow();
  await measures.of(directory);
  const startedAtMs = performance.now();
  for (let round = 0; round < 10; round++) assert.ok((await measures.of(directory)).isPartial);
  const tookMs = performance.now() - startedAtMs;
  assert.ok(tookMs < 300, `${tookMs} ms`);
});

test('calls for many slow trees wait in total about as long as for a few', async (t) => {
  const measures = slow({ waitMs: 1000 });
  const directories = Array.from({ length: 10 }, () => tree(t, FILES / 3));
  await Promise.all(directories.slice(0, 4).map((one) => measures.of(one)));
  const startedAtMs = performance.now();
  for (const directory of directories) await measures.of(directory);
  const tookMs = performance.now() - startedAtMs;
  assert.ok(tookMs < 4000, `${tookMs} ms`);
});

test('a walk that exceeds its limit ends as a partial measurement, and others eventually complete', async (t) => {
  const directory = tree(t, FILES);
  const measures = slow({ timeoutMs: 500 });
  await measures.of(directory);
  const isEnded = async () => {
    const { atMs, isPartial } = await measures.of(directory);
    await sleep(5);
    return isPartial && (await measures.of(directory)).atMs === atMs;
  };
  await waitFor(isEnded, { intervalMs: 50, signal: AbortSignal.timeout(10_000) });
  const patient = slow({ cpuShare: 0.5, waitMs: 1 });
  const isComplete = async () => {
    const { usage, isPartial } = await patient.of(directory);
    return !isPartial && usage.inodes === FILES + 1;
  };
  await waitFor(isComplete, { intervalMs: 50, signal: AbortSignal.timeout(20_000) });
});

test('a missing directory is an error', async () => {
  await assert.rejects(slow().of('/nonexistent'), { code: 'ENOENT' });
});

test('the tree of frozen processes is measured immediately, and the result is partial if the tree still changes', async (t) => {
  const directory = tree(t, 3000);
  const measures = new TreeMeasures({ cpuShare: 1, waitMs: 60_000 });
  await sleep(15); // as `freezeCgroup` does
  const earlier = measures.of(directory);
  const first = await measures.of(directory, { isFrozen: true });
  assert.deepEqual([first.usage.inodes, first.isPartial], [3000 + 1, false]);
  assert.notEqual(first, await earlier); // it did not join a walk of the running processes
  writeFileSync(join(directory, 'another'), '');
  await sleep(15);
  const second = await measures.of(directory, { isFrozen: true });
  assert.deepEqual([second.usage.inodes, second.isPartial], [3000 + 2, false]);
  writeFileSync(join(directory, 'another'), 'x');
  assert.equal((await measures.of(directory, { isFrozen: true })).isPartial, true);
});
