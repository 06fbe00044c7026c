import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus, PodSpec, PodStatus } from '@podwright/kube-api';
import { requestsOf } from './resource-amounts.ts';
import { testPod } from './test-objects.fixture.ts';

type Container = PodSpec['containers'][number];

const container = (name: string, cpu: string, restartPolicy?: 'Always') =>
  ({ name, image: 'a', resources: { requests: { cpu } }, restartPolicy }) as Container;

/** Builds the status of a container for which the node has allocated `allocated` CPU, and which runs with a CPU request of `actual`. */
const running = (name: string, allocated: string, actual: string) =>
  ({
    name,
    allocatedResources: { cpu: allocated },
    resources: { requests: { cpu: actual } },
  }) as unknown as ContainerStatus;

/** Asserts that a pod with this spec and status requests `expected` millicores of CPU. */
function check(spec: Partial<PodSpec>, status: Partial<PodStatus>, expected: bigint) {
  assert.equal(requestsOf(testPod('p', { spec, status })).get('cpu'), expected);
}

test('during a resize, each container counts with the largest of its wanted, allocated and actual requests', () => {
  const containers = [container('a', '1'), container('b', '100m')];
  check({ containers }, {}, 1100n);
  check({ containers }, { containerStatuses: [running('a', '100m', '100m'), running('b', '1', '1')] }, 2000n);
  check({ containers }, { containerStatuses: [running('a', '1', '3'), running('b', '100m', '100m')] }, 3100n);
});

test('sidecars count like containers, and other init containers by their spec', () => {
  const initContainers = [container('side', '1', 'Always'), container('init', '1')];
  const initContainerStatuses = [running('side', '2', '2'), running('init', '9', '9')];
  check({ containers: [container('a', '100m')], initContainers }, { initContainerStatuses }, 3000n);
});

test('the wanted requests do not count if the node can never meet them', () => {
  const status: Partial<PodStatus> = {
    conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }],
    containerStatuses: [running('a', '1', '500m')],
    resources: { requests: { cpu: '2' } },
    allocatedResources: { cpu: '2' },
  };
  check({ containers: [container('a', '8')] }, status, 1000n);
  check({ containers: [container('a', '1')], resources: { requests: { cpu: '8' } } }, status, 2000n);
});

test('during a resize, the pod counts with the largest of its requests at the pod level', () => {
  const spec = { containers: [container('a', '100m')], resources: { requests: { cpu: '1' } } };
  check(spec, { resources: { requests: { cpu: '2' } }, allocatedResources: { cpu: '3' } }, 3000n);
  check(spec, { allocatedResources: { cpu: '3' } }, 1000n);
  const limited = { ...spec, resources: { limits: { cpu: '1' }, requests: {} } };
  check(limited, { resources: { requests: { cpu: '2' } }, allocatedResources: { cpu: '3' } }, 100n);
});
