import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEAP_LOOK_MS } from '../limits.ts';
import { collectWhenQuiet, isWorthCollecting } from './collect-when-quiet.ts';

const MIB = 1 << 20;

const cases: [string, { heapBytes: number; cpuShare: number }, boolean][] = [
  ['a heap that has grown is collected when the daemon is quiet', { heapBytes: 60 * MIB, cpuShare: 0.01 }, true],
  ['a heap that has grown is not collected while the daemon is busy', { heapBytes: 60 * MIB, cpuShare: 0.3 }, false],
  ['a heap that has grown little is not collected', { heapBytes: 33 * MIB, cpuShare: 0.01 }, false],
];
for (const [name, look, expected] of cases) test(name, () => assert.equal(isWorthCollecting(look, 30 * MIB), expected));

test('a quiet daemon is collected once, and not again before its heap has grown', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const gc = t.mock.fn();
  const trim = t.mock.fn();
  collectWhenQuiet(gc as unknown as NodeJS.GCFunction, trim);
  assert.equal(gc.mock.callCount(), 0);
  for (let looks = 0; looks < 3; looks++) t.mock.timers.tick(HEAP_LOOK_MS);
  assert.equal(gc.mock.callCount(), 1);
  assert.equal(trim.mock.callCount(), 1);
});
