import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { HEAP_LOOK_MS, LOOKS_APART_AT_REST, LOOKS_UNTIL_REST } from '../limits.ts';
import { collectWhenQuiet, isWorthCollecting } from './collect-when-quiet.ts';

const MIB = 1 << 20;

const quiet = { heapBytes: 0, usedBytes: 0, quietLooks: 1 };
const atRest = { ...quiet, quietLooks: LOOKS_UNTIL_REST };
const cases: [string, Parameters<typeof isWorthCollecting>[0], boolean][] = [
  ['a heap that has grown is collected when the daemon is quiet', { ...quiet, heapBytes: 30 * MIB }, true],
  [
    'a heap that has grown is not collected while the daemon is busy',
    { ...quiet, heapBytes: 30 * MIB, quietLooks: 0 },
    false,
  ],
  ['a heap that has grown little is not collected', { ...quiet, heapBytes: 3 * MIB, usedBytes: 3 * MIB }, false],
  [
    'a heap that has grown little is collected when the daemon has come to rest',
    { ...atRest, usedBytes: 3 * MIB },
    true,
  ],
  ['a heap that has not grown is not collected at rest', atRest, false],
  [
    'a heap that grows little at rest is not collected soon again',
    { ...atRest, usedBytes: 3 * MIB, quietLooks: LOOKS_UNTIL_REST + 1 },
    false,
  ],
  [
    'a heap that grows little at rest is collected later',
    { ...atRest, usedBytes: 3 * MIB, quietLooks: LOOKS_UNTIL_REST + LOOKS_APART_AT_REST },
    true,
  ],
];
for (const [name, growth, expected] of cases) test(name, () => assert.equal(isWorthCollecting(growth), expected));

function watch(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const gc = t.mock.fn();
  const trim = t.mock.fn();
  collectWhenQuiet(gc, trim);
  const look = (times: number) => {
    for (let looks = 0; looks < times; looks++) t.mock.timers.tick(HEAP_LOOK_MS);
    assert.equal(trim.mock.callCount(), gc.mock.callCount());
    return gc.mock.callCount();
  };
  return look;
}

test('an idle daemon is garbage-collected once, and not again until its heap has grown', (t) => {
  const look = watch(t);
  assert.equal(look(0), 0);
  assert.equal(look(LOOKS_UNTIL_REST + 2), 1);
});

test('a daemon at rest is collected again if there is garbage, and rarely after that', (t) => {
  const look = watch(t);
  assert.equal(look(LOOKS_UNTIL_REST - 1), 1);
  const garbage = new Array<number>((6 * MIB) / 8).fill(0.5); // not enough for a collection before the daemon is at rest
  assert.equal(look(1), 2);
  assert.equal(look(LOOKS_APART_AT_REST - 1), 2);
  assert.equal(garbage.at(-1), 0.5); // it was in the heap until now
});
