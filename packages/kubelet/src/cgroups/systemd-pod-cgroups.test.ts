import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import type { Pod } from '../api/types.ts';
import { SystemdPodCgroups, sliceProperties } from './systemd-pod-cgroups.ts';

type Resources = Pod['spec']['containers'][number]['resources'];

function podOf(resources: Resources): Pod {
  const metadata = { name: 'web', namespace: 'default', uid: '1-2-3' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'web', image: 'i', resources }] } };
}

function check(root: string, resources: Resources, expected: string): void {
  const hierarchy = { mode: 'v2' as const, trees: [] };
  const cgroups = new SystemdPodCgroups({ root, hierarchy, limits: {}, logger: silentLogger });
  assert.equal(cgroups.parentFor(podOf(resources)), expected);
}

test("slices are named as upstream's kubelet names them", () => {
  check('/', {}, '/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1_2_3.slice');
  check('/', { requests: { cpu: '1' } }, '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2_3.slice');
  const limits = { cpu: '1', memory: '64Mi' };
  check('/', { limits }, '/kubepods.slice/kubepods-pod1_2_3.slice');
  const own = '/my_node.slice/my_node-kubepods.slice/my_node-kubepods-pod1_2_3.slice';
  check('/my-node', { limits }, own);
});

test("a pod's limits are properties of its slice", () => {
  const given = podOf({ limits: { cpu: '500m', memory: '64Mi' } });
  const limited = { CPUWeight: 20n, CPUQuotaPerSecUSec: 500_000n, MemoryMax: 64n << 20n, TasksMax: 100n };
  assert.deepEqual(sliceProperties(given, 100), limited);
  const free = { CPUWeight: 1n, CPUQuotaPerSecUSec: undefined, MemoryMax: undefined, TasksMax: undefined };
  assert.deepEqual(sliceProperties(podOf({})), free);
});
