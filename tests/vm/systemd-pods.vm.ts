/** The kubelet's slices for pods and QoS classes, with a real systemd. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { discoverCgroups } from '@podwright/host';
import type { Pod } from '../../packages/kube-api/src/objects/types.ts';
import { openPodCgroups } from '../../packages/kubelet/src/cgroups/open-pod-cgroups.ts';
import { limitReservedCgroup } from '../../packages/kubelet/src/cgroups/reserved-cgroups.ts';
import { DEFAULT_RESOURCE_POLICY } from '../../packages/kubelet-configuration/src/options/resource-policy.ts';
import { readCgroup, stopUnits, unitsWith } from './systemd.fixture.ts';

const GIBIBYTE = 2 ** 30;
const TOP = '/slicetest.slice/slicetest-kubepods.slice';
const hierarchy = await discoverCgroups();
const policy = {
  ...DEFAULT_RESOURCE_POLICY,
  cpuCfsQuotaPeriodMicros: 10_000,
  memoryQos: { throttlingFactor: 0.9, reservation: 'TieredReservation' },
} as const;
const limits = { pidsPerPod: 100, allPods: { memoryBytes: GIBIBYTE, pids: 1000 } };

after(() => {
  stopUnits('slicetest.slice');
  assert.deepEqual(unitsWith('slicetest'), []);
});

function podOf(uid: string, resources: Pod['spec']['resources']): Pod {
  const metadata = { name: uid, namespace: 'default', uid };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'a', image: 'i' }], resources } };
}

const open = () =>
  openPodCgroups({
    root: '/slicetest',
    driver: 'systemd',
    hierarchy,
    settings: { limits, milliCpu: 4000n, policy, hugePageSizes: [] },
    logger: silentLogger,
  });

test('slices have the limits of pods, classes and the node, also after systemd was reloaded', async (context) => {
  const pods = await open();
  context.after(() => pods.close());
  const both = { cpu: '500m', memory: '64Mi' };
  const [steady, burst] = [podOf('1-2', { requests: both, limits: both }), podOf('3-4', { requests: both })];
  await pods.ensure(steady);
  await pods.ensure(burst);
  await once(spawn('systemctl', ['daemon-reload'], { stdio: 'ignore' }), 'exit');
  const check = (cgroup: string, files: Record<string, string>) =>
    assert.deepEqual(Object.fromEntries(Object.keys(files).map((file) => [file, readCgroup(cgroup, file)])), files);
  check(TOP, { 'memory.max': String(GIBIBYTE), 'pids.max': '1000', 'cpu.weight': '157', 'memory.min': `${128 << 20}` });
  check(`${TOP}/slicetest-kubepods-burstable.slice`, { 'cpu.weight': '20', 'memory.low': `${64 << 20}` });
  check(`${TOP}/slicetest-kubepods-besteffort.slice`, { 'cpu.weight': '1' });
  const given = { 'cpu.weight': '20', 'cpu.max': '5000 10000', 'memory.max': `${64 << 20}`, 'pids.max': '100' };
  check(pods.parentFor(steady), { ...given, 'memory.min': `${64 << 20}` });
  check(pods.parentFor(burst), { 'cpu.max': 'max 100000', 'memory.max': 'max', 'memory.low': `${64 << 20}` });
});

test('the slice of a removed pod is stopped, with its processes', async (context) => {
  const pods = await open();
  context.after(() => pods.close());
  const removed = podOf('5-6', {});
  await pods.ensure(removed);
  const sleeper = spawn('sleep', ['600'], { stdio: 'ignore' });
  context.after(() => sleeper.kill('SIGKILL'));
  const ended = once(sleeper, 'exit');
  writeFileSync(`/sys/fs/cgroup${pods.parentFor(removed)}/cgroup.procs`, String(sleeper.pid));
  await pods.removeOrphans(new Set(['1-2']));
  await ended;
  assert.deepEqual(unitsWith('pod5_6'), []);
  assert.equal(unitsWith('pod1_2').length, 1);
  assert.deepEqual(unitsWith('pod3_4'), []);
});

test('a reserved slice of the host gets the reserved limits', async () => {
  const before = readFileSync('/sys/fs/cgroup/system.slice/memory.max', 'utf8').trim();
  const host = { hierarchy, driver: 'systemd' } as const;
  await limitReservedCgroup(host, '/system.slice', { cpuShares: 512 });
  assert.equal(readCgroup('/system.slice', 'cpu.weight'), '20');
  assert.equal(readCgroup('/system.slice', 'memory.max'), before);
  await limitReservedCgroup(host, '/system.slice', { cpuShares: 2597 });
  await assert.rejects(limitReservedCgroup(host, '/missing.slice', {}), /there is no cgroup/);
});
