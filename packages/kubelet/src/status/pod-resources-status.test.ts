import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec, PodStatus, ResourceRequirements } from '@podwright/kube-api';
import { podResourcesStatus } from './pod-resources-status.ts';

type Expected = Pick<PodStatus, 'resources' | 'allocatedResources'>;

function check(all: ResourceRequirements[], spec: Partial<PodSpec>, expected: Expected): void {
  const containers = all.map((resources, index) => ({ name: `c${index}`, image: 'i', resources }));
  const metadata = { name: 'p', namespace: 'd', uid: 'u' };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, ...spec } } as const;
  assert.deepEqual(podResourcesStatus(pod), expected);
}

test('the resources of a pod are the sum of its containers’ resources', () => {
  check([{}], {}, { resources: {} });
  const own = { requests: { cpu: '250m', memory: '32Mi' }, limits: { memory: '64Mi' } };
  check(
    [own, { requests: { cpu: '0.75' } }],
    {},
    {
      resources: { requests: { cpu: '1', memory: '32Mi' }, limits: { memory: '64Mi' } },
      allocatedResources: { cpu: '1', memory: '32Mi' },
    },
  );
});

test('the resources of a pod with pod-level resources are those plus the overhead', () => {
  const resources = { requests: { cpu: '1' }, limits: { cpu: '2' } };
  check(
    [{ requests: { cpu: '100m', memory: '1Mi' } }],
    { resources, overhead: { cpu: '250m', memory: '1Mi' } },
    {
      resources: { requests: { cpu: '1250m', memory: '2Mi' }, limits: { cpu: '2250m' } },
      allocatedResources: { cpu: '1250m', memory: '2Mi' },
    },
  );
});
