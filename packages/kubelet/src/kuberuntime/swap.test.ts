import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod, ResourceRequirements } from '@podwright/kube-api';
import type { ContainerEnforcement } from './container-enforcement.ts';
import { fakeNode } from './dependencies.fixture.ts';
import { resizesSwap } from './swap.ts';

const V2 = { cgroupV2: true, countsSwap: true };
const SWAPS = fakeNode(V2, { swapBehavior: 'LimitedSwap' });

type Given = { resources: ResourceRequirements; more?: Partial<Container>; spec?: Partial<Pod['spec']> };

function podOf({ resources, more, spec }: Given): Pod {
  const containers = [{ name: 'app', image: 'i', resources, ...more }];
  return { metadata: { name: 'web', uid: 'u' }, spec: { containers, ...spec } } as unknown as Pod;
}

function check(before: Given, after: Given, expected: boolean, node: ContainerEnforcement = SWAPS): void {
  assert.equal(resizesSwap(podOf(after), podOf(before), node), expected, JSON.stringify({ before, after }));
}

const memory = (request: string, limit?: string, more: Omit<Given, 'resources'> = {}): Given => ({
  resources: { requests: { memory: request, cpu: '1' }, ...(limit && { limits: { memory: limit, cpu: '1' } }) },
  ...more,
});
const policy = (resourceName: string, restartPolicy: string) => ({
  more: { resizePolicy: [{ resourceName, restartPolicy }] } as Partial<Container>,
});

test('a memory resize is infeasible if the container may use swap before or after it', () => {
  check(memory('1Gi'), memory('2Gi'), true);
  check(memory('2Gi', '3Gi'), memory('1Gi', '3Gi'), true);
  check(memory('1Gi', '2Gi'), memory('2Gi', '2Gi'), true);
  check({ resources: { requests: { cpu: '1' } } }, memory('1Gi'), true);
});

test('a resize that keeps the memory request, and thereby the swap limit, is feasible', () => {
  check(memory('1Gi', '2Gi'), memory('1Gi', '3Gi'), false);
  check(memory('1Gi'), memory('1024Mi'), false);
  check(memory('1Gi'), { resources: { requests: { memory: '1Gi', cpu: '2' } } }, false);
});

test('a resize that restarts the container is feasible', () => {
  const restarts = policy('memory', 'RestartContainer');
  check(memory('1Gi', undefined, restarts), memory('2Gi', undefined, restarts), false);
  for (const other of [policy('cpu', 'RestartContainer'), policy('memory', 'NotRequired')])
    check(memory('1Gi', undefined, other), memory('2Gi', undefined, other), true);
});

test('a resize of a container that may not use swap is feasible', () => {
  check(memory('1Gi', '1Gi'), memory('2Gi', '2Gi'), false);
  const critical = { spec: { priorityClassName: 'system-node-critical', priority: 2_000_001_000 } };
  check(memory('1Gi', undefined, critical), memory('2Gi', undefined, critical), false);
  check(memory('1Gi'), memory('2Gi'), false, fakeNode(V2));
  for (const host of [{ cgroupV2: false }, { countsSwap: false }])
    check(memory('1Gi'), memory('2Gi'), false, fakeNode({ ...V2, ...host }, { swapBehavior: 'LimitedSwap' }));
});

test('init containers are checked as well', () => {
  const withInit = (request: string): Given => ({
    ...memory('1Gi'),
    spec: { initContainers: [{ name: 'first', image: 'i', ...memory(request) }] },
  });
  check(withInit('1Gi'), withInit('2Gi'), true);
});
