import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeAllocatable } from './node-allocatable.ts';

type Reserved = Parameters<typeof nodeAllocatable>[1];

const MIB = 2 ** 20;
const auto: Reserved = { memoryBytes: 'auto', pids: 'auto' };

function check(reserved: Reserved, has: [number, number], left: [number, number]): void {
  const allocatable = nodeAllocatable({ memoryBytes: has[0] * MIB, pids: has[1] }, reserved);
  assert.deepEqual(allocatable, { memoryBytes: left[0] * MIB, pids: left[1] });
}

test('a fraction of a large host is reserved', () => check(auto, [16_000, 4_194_304], [15_200, 3_984_589]));
test('on a small host the minimum for the system and the kubelet is reserved', () =>
  check(auto, [2048, 8192], [1792, 7168]));
test('on a tiny host half of the capacity is reserved', () => check(auto, [256, 1000], [128, 500]));
test('explicit reservations are used unchanged', () =>
  check({ memoryBytes: 100 * MIB, pids: 10 }, [1000, 1000], [900, 990]));
test('zero reservations, the upstream default, reserve nothing', () =>
  check({ memoryBytes: 0, pids: 0 }, [1000, 1000], [1000, 1000]));

for (const [name, reserved] of [
  ['memory', { memoryBytes: 1000 * MIB, pids: 0 }],
  ['pid', { memoryBytes: 0, pids: 1001 }],
] as const) {
  test(`a reservation of ${name} that leaves nothing for pods is refused`, () => {
    assert.throws(() => nodeAllocatable({ memoryBytes: 1000 * MIB, pids: 1000 }, reserved), {
      code: 'invalid_argument',
      message: new RegExp(`of ${name} for the system: the node has ${reserved.pids > 0 ? 1000 : 1000 * MIB}`),
    });
  });
}
