import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PressureCondition } from '@podwright/kubelet-configuration';
import { type GivenPod, podOf } from './pods.fixture.ts';
import { refuseUnderPressure } from './pressure-admission.ts';

const MEMORY: PressureCondition[] = ['MemoryPressure'];
const DISK: PressureCondition[] = ['DiskPressure'];

function check(conditions: PressureCondition[], pod: GivenPod, expected: string | undefined, isLone = false): void {
  assert.equal(refuseUnderPressure(podOf('a', pod), conditions, { isLone })?.message, expected);
}

test('short of memory alone only pods are refused that ask for nothing and do not tolerate it', () => {
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

test('short of anything else all are refused but critical ones', () => {
  const asks = { requests: { memory: '1Mi' } };
  check(DISK, asks, 'The node had condition: [DiskPressure]. ');
  check([...MEMORY, 'PIDPressure'], asks, 'The node had condition: [MemoryPressure PIDPressure]. ');
  check(DISK, { priority: 2_000_000_000 }, undefined);
  check(DISK, { spec: { priorityClassName: 'system-node-critical' }, source: 'file' }, undefined, true);
});

test('a static pod is critical beside those of an API server, and not on a lone node', () => {
  check(DISK, { source: 'file' }, undefined);
  check(DISK, { source: 'file' }, 'The node had condition: [DiskPressure]. ', true);
});
