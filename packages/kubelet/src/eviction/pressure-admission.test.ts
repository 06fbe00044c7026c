import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PressureCondition } from '@podwright/kubelet-configuration';
import { type GivenPod, podOf } from './pods.fixture.ts';
import { refuseUnderPressure } from './pressure-admission.ts';

const MEMORY: PressureCondition[] = ['MemoryPressure'];
const DISK: PressureCondition[] = ['DiskPressure'];

function check(
  conditions: PressureCondition[],
  pod: GivenPod,
  expected: string | undefined,
  isStandalone = false,
): void {
  assert.equal(refuseUnderPressure(podOf('a', pod), conditions, { isStandalone })?.message, expected);
}

test('under memory pressure alone only BestEffort pods without a toleration are rejected', () => {
  const key = 'node.kubernetes.io/memory-pressure';
  check([], {}, undefined);
  check(MEMORY, {}, 'The node had condition: [MemoryPressure]. ');
  check(MEMORY, { requests: { memory: '1Mi' } }, undefined);
  for (const toleration of [
    { operator: 'Exists' },
    { key, operator: 'Exists', effect: 'NoSchedule' },
    { key },
  ] as const)
    check(MEMORY, { spec: { tolerations: [toleration] } }, undefined);
  for (const toleration of [
    { operator: 'Exists', effect: 'NoExecute' },
    { key, value: 'x' },
  ] as const)
    check(MEMORY, { spec: { tolerations: [toleration] } }, 'The node had condition: [MemoryPressure]. ');
});

test('under any other pressure all pods are rejected except critical ones', () => {
  const burstable = { requests: { memory: '1Mi' } };
  check(DISK, burstable, 'The node had condition: [DiskPressure]. ');
  check([...MEMORY, 'PIDPressure'], burstable, 'The node had condition: [MemoryPressure PIDPressure]. ');
  check(DISK, { priority: 2_000_000_000 }, undefined);
  check(DISK, { spec: { priorityClassName: 'system-node-critical' }, source: 'file' }, undefined, true);
});

test('a static pod is critical on a cluster node, but not on a standalone node', () => {
  check(DISK, { source: 'file' }, undefined);
  check(DISK, { source: 'file' }, 'The node had condition: [DiskPressure]. ', true);
});
