import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Pod, ResourceRequirements } from '../objects/types.ts';
import { unresizable } from './resizable.ts';

type Given = ResourceRequirements & { pod?: ResourceRequirements };

const podOf = ({ pod, ...resources }: Given): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: '' },
  spec: {
    ...(pod !== undefined && { resources: pod }),
    initContainers: [{ name: 'side', image: 'busybox', restartPolicy: 'Always', resources }],
    containers: [{ name: 'app', image: 'busybox', resources }],
  },
});

function check(before: Given, after: Given, same: boolean): void {
  const equal = isDeepStrictEqual(unresizable(podOf(before)), unresizable(podOf(after)));
  assert.equal(equal, same, JSON.stringify([before, after]));
}

test('only CPU and memory changes leave the pod the same', () => {
  check({ requests: { cpu: '1' } }, { requests: { cpu: '2' } }, true);
  check({ requests: { cpu: '1' }, limits: { cpu: '2' } }, { requests: { cpu: '500m' }, limits: { cpu: '3' } }, true);
  check({ requests: { cpu: '1' } }, { requests: { cpu: '1' }, limits: { cpu: '2', memory: '1Gi' } }, true);
  check({ requests: { cpu: '1', memory: '1Gi' } }, { requests: { cpu: '1' } }, true);
  check({ limits: { 'hugepages-2Mi': '2Mi' } }, { limits: { 'hugepages-2Mi': '4Mi' } }, false);
  check({ requests: { cpu: '1' } }, { requests: { cpu: '1', 'ephemeral-storage': '1Gi' } }, false);
});

test('a pod with a changed QoS class is a different pod', () => {
  check({ requests: { cpu: '1' } }, { requests: { cpu: '0' } }, false);
  check({}, { requests: { cpu: '1' } }, false);
  const guaranteed = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } };
  check(guaranteed, { ...guaranteed, requests: { cpu: '500m', memory: '1Gi' } }, false);
  check(guaranteed, { requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '2000m', memory: '1Gi' } }, true);
  check({ pod: guaranteed }, { pod: { ...guaranteed, requests: { cpu: '500m', memory: '1Gi' } } }, false);
});

test('changed or added pod-level CPU and memory amounts leave the pod the same', () => {
  const own = { requests: { cpu: '1' } };
  check({ ...own, pod: { requests: { cpu: '3' } } }, { ...own, pod: { requests: { cpu: '4', memory: '1Gi' } } }, true);
  check(own, { ...own, pod: { requests: { cpu: '3' } } }, true);
  check({ pod: { limits: { 'hugepages-2Mi': '2Mi' } } }, { pod: { limits: { 'hugepages-2Mi': '4Mi' } } }, false);
});
