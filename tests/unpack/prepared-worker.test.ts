/**
 * Worker threads are started ahead of expected layers. Their bundle must be small, because its size determines how long they take to start.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { LayerUnpacker } from '../../packages/images/src/unpack/unpack-layer.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { file, unpackEntries } from './layer.fixture.ts';
import { Scratch } from './scratch.ts';

test('a prepared worker unpacks the next layer, and no more workers than needed are started', async (t) => {
  using scratch = new Scratch();
  const started: Worker[] = [];
  const onWorker = (worker: Worker) => started.push(worker);
  process.on('worker', onWorker);
  t.after(() => process.off('worker', onWorker));
  await using unpacker = new LayerUnpacker({ system: loadSystem() });
  const counted = async () => {
    await new Promise(setImmediate); // the event is emitted in the next tick
    return started.length;
  };
  unpacker.prepare();
  unpacker.prepare();
  assert.equal(await counted(), 1);
  await unpackEntries(unpacker, scratch, [file('a', 'b')], { name: 'first' });
  unpacker.prepare();
  assert.equal(await counted(), 1);
  const unpacking = unpackEntries(unpacker, scratch, [file('a', 'b')], { name: 'second' });
  unpacker.prepare();
  unpacker.prepare();
  await unpacking;
  assert.equal(await counted(), 2);
});

test('the worker’s bundle only loads Node.js modules', () => {
  using scratch = new Scratch();
  const out = scratch.at('dist');
  execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.ts'), out]);
  const bundle = readFileSync(join(out, 'unpack-worker.cjs'), 'utf8');
  const loaded = [...bundle.matchAll(/(?:from|import|require\()\s*"([^"]+)"/g)].map(([, name]) => name!);
  assert.ok(loaded.length > 3);
  assert.deepEqual(
    loaded.filter((name) => !name.startsWith('node:')),
    [],
  );
});
