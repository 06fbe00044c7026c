import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceRequirements } from '../objects/types.ts';
import { applyDefaults } from './defaults.ts';

type Given = { pod?: ResourceRequirements; containers?: ResourceRequirements[]; init?: ResourceRequirements[] };

function check({ pod, containers = [{}], init }: Given, expected: ResourceRequirements | undefined): void {
  const named = (list: ResourceRequirements[]) =>
    list.map((resources, index) => ({ name: `c${index}`, image: 'i', resources }));
  const { spec } = applyDefaults({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: '', uid: '' },
    spec: {
      containers: named(containers),
      ...(init && { initContainers: named(init) }),
      ...(pod && { resources: pod }),
    },
  });
  assert.deepEqual(spec.resources, expected);
}

test('a pod without pod-level resources gets none', () => {
  check({ containers: [{ limits: { cpu: '1' } }] }, undefined);
  check({ pod: {} }, {});
  check({ pod: { requests: { cpu: '1' } }, containers: [{ requests: { memory: '1Mi' } }] }, { requests: { cpu: '1' } });
});

test('missing pod-level requests default to those of the containers, or else to the limits', () => {
  const limits = { cpu: '2', memory: '1Gi' };
  check({ pod: { limits } }, { limits, requests: limits });
  check(
    { pod: { limits }, containers: [{ requests: { cpu: '200m' } }, { requests: { cpu: '300m' } }] },
    {
      limits,
      requests: { cpu: '500m', memory: '1Gi' },
    },
  );
  check(
    { pod: { limits }, containers: [{ limits: { memory: '64Mi' } }], init: [{ requests: { memory: '1025Mi' } }] },
    {
      limits,
      requests: { cpu: '2', memory: '1025Mi' },
    },
  );
  check(
    { pod: { limits: { cpu: '2' }, requests: { cpu: '1' } }, containers: [{ requests: { memory: '1M' } }] },
    {
      limits: { cpu: '2' },
      requests: { cpu: '1', memory: '1M' },
    },
  );
});

test('missing pod-level huge pages default to the total of the containers', () => {
  const own = { limits: { 'hugepages-2Mi': '4Mi', cpu: '1' } };
  check(
    { pod: { limits: { cpu: '2' } }, containers: [own, own] },
    {
      limits: { cpu: '2', 'hugepages-2Mi': '8Mi' },
      requests: { cpu: '2', 'hugepages-2Mi': '8Mi' },
    },
  );
  check(
    { pod: { limits: { cpu: '2', 'hugepages-2Mi': '16Mi' } }, containers: [own] },
    {
      limits: { cpu: '2', 'hugepages-2Mi': '16Mi' },
      requests: { cpu: '1', 'hugepages-2Mi': '16Mi' },
    },
  );
});
