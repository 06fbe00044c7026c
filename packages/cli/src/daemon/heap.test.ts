import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cachedDataVersionTag } from 'node:v8';
import { HEAP_LOOK_MS } from '../limits.ts';
import { daemonHeap } from './heap.ts';

const STREAMED_BYTES = 64 << 20;

for (const usesFastPaths of [true, false])
  test(`a daemon ${usesFastPaths ? 'with' : 'without'} fast paths ${usesFastPaths ? 'requests' : 'never requests'} collections`, (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const gc = t.mock.fn();
    const heap = daemonHeap(usesFastPaths, { gc: gc as unknown as NodeJS.GCFunction });
    heap.watch();
    t.mock.timers.tick(HEAP_LOOK_MS);
    heap.countBuffer?.(STREAMED_BYTES);
    assert.equal(gc.mock.callCount(), usesFastPaths ? 2 : 0);
  });

test('a collection changes V8’s flags, which affect compiled code, only while it runs', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const before = cachedDataVersionTag();
  const during: number[] = [];
  const gc = () => during.push(cachedDataVersionTag());
  daemonHeap(true, { gc: gc as unknown as NodeJS.GCFunction }).watch();
  t.mock.timers.tick(HEAP_LOOK_MS);
  assert.equal(during.length, 1);
  assert.notEqual(during[0], before);
  assert.equal(cachedDataVersionTag(), before);
});

test('a process without --expose-gc requests no collections', () => {
  const heap = daemonHeap(true, { gc: undefined });
  heap.watch();
  assert.equal(heap.countBuffer, undefined);
});
