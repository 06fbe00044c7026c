import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOTHING_RESERVED, type SystemReserved } from '@podwright/kubelet-configuration';
import { allocatableResources, resourceList } from './node-resources.ts';

const GIBIBYTE = 1n << 30n;
const capacity = {
  cpu: 4000n,
  memory: 16n * GIBIBYTE,
  'ephemeral-storage': 100n * GIBIBYTE,
  'hugepages-2Mi': 2n * GIBIBYTE,
};

function allocatable(reserved: Partial<SystemReserved>) {
  const left = { memoryBytes: 15 * 2 ** 30, pids: 1 };
  return allocatableResources(capacity, { allocatable: left, reserved: { ...NOTHING_RESERVED, ...reserved } });
}

test('allocatable excludes reservations, and its memory excludes huge pages', () => {
  assert.deepEqual(resourceList(allocatable({ cpuMillis: 500, ephemeralStorageBytes: 2 ** 30 })), {
    cpu: '3500m',
    memory: '13Gi',
    'ephemeral-storage': '99Gi',
    'hugepages-2Mi': '2Gi',
  });
  assert.deepEqual(resourceList(capacity), {
    cpu: '4',
    memory: '16Gi',
    'ephemeral-storage': '100Gi',
    'hugepages-2Mi': '2Gi',
  });
});

test('a reservation above the capacity is refused', () => {
  assert.equal(allocatable({ cpuMillis: 4000 }).cpu, 0n);
  assert.throws(() => allocatable({ cpuMillis: 4001 }), /reserve 4001m of cpu for the system: the node has 4000m/);
  assert.throws(() => allocatable({ ephemeralStorageBytes: 2 ** 40 }), /of ephemeral-storage for the system/);
});
