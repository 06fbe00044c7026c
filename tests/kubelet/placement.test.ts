/** Pods with exclusive CPUs and memory on Podwright's runtime, as seen in their containers' cgroups. Requires root and two CPUs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { type CgroupHierarchy, cgroupDirectory, discoverCgroups, treeOf } from '@podwright/host';
import type { Pod } from '@podwright/kube-api';
import { kubeletOptions, startKubelet } from '@podwright/kubelet';
import { killKubelet, startKubeletChild } from './kubelet-child.fixture.ts';
import { type RealKubelet, startRealKubelet } from './real-kubelet.fixture.ts';
import { type SuiteRuntime, startOurRuntime } from './suite-runtime.fixture.ts';

const RESERVED_BYTES = 256 << 20;
/** Memory reserved in addition to `RESERVED_BYTES`: the hard eviction threshold. */
const EVICTION_BYTES = 100 << 20;
let runtime: SuiteRuntime;
let kubelet: RealKubelet;
let hierarchy: CgroupHierarchy;
before(async () => {
  hierarchy = (await discoverCgroups())!;
  runtime = await startOurRuntime('pl');
  const place = { manifestDir: '/none', runtimeEndpoint: runtime.endpoint, nodeName: 'node' };
  const { placement, systemReserved } = kubeletOptions({ ...place, logger: silentLogger });
  kubelet = await startRealKubelet(runtime, {
    systemReserved: { ...systemReserved, cpuMillis: 1000, memoryBytes: RESERVED_BYTES },
    placement: {
      cpu: { ...placement.cpu, policy: 'static', reconcilePeriodMs: 100, reserved: [0] },
      memory: {
        ...placement.memory,
        policy: 'Static',
        reserved: [{ node: 0, limits: { memory: BigInt(RESERVED_BYTES + EVICTION_BYTES) } }],
      },
      topology: { ...placement.topology, policy: 'single-numa-node' },
    },
  });
});
after(async () => {
  await (kubelet as RealKubelet | undefined)?.close(); // if it was started
  await (runtime as SuiteRuntime | undefined)?.stop();
});

const write = (name: string, resources: string) =>
  kubelet.apply(
    `${name}.yaml`,
    `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: '${runtime.image}', imagePullPolicy: Never, command: [sleep, '3600'], resources: ${resources}}]
`,
  );

const condition = (pod: Pod, type: string) => pod.status?.conditions?.find((one) => one.type === type);
const isReady = (pod: Pod) => condition(pod, 'Ready')?.status === 'True';

function fileOf(pod: Pod, controller: string, files: { 1: string; 2: string }, qos: '' | '/besteffort' = ''): string {
  const id = pod.status!.containerStatuses![0]!.containerID!.split('//')[1]!;
  const cgroup = `${kubelet.options.cgroupRoot}/kubepods${qos}/pod${pod.metadata.uid}/${id}`;
  const tree = treeOf(hierarchy, controller)!;
  return readFileSync(join(cgroupDirectory(tree, cgroup), files[tree.version]), 'utf8')
    .trim()
    .split(' ')[0]!;
}

const cpusOf = (pod: Pod, qos?: '/besteffort') => fileOf(pod, 'cpuset', { 1: 'cpuset.cpus', 2: 'cpuset.cpus' }, qos);
const memsOf = (pod: Pod) => fileOf(pod, 'cpuset', { 1: 'cpuset.mems', 2: 'cpuset.mems' });
const quotaOf = (pod: Pod) => fileOf(pod, 'cpu', { 1: 'cpu.cfs_quota_us', 2: 'cpu.max' });
const state = (file: string) => JSON.parse(readFileSync(join(kubelet.options.rootDir, file), 'utf8'));

test('a Guaranteed pod has an exclusive CPU, which no other pod uses', async () => {
  await write('shared', '{}');
  const shared = await kubelet.pod('shared', isReady);
  const all = cpusOf(shared, '/besteffort');
  assert.match(all, /^0-/);
  await write('own', '{limits: {cpu: 1, memory: 64Mi}}');
  const own = await kubelet.pod('own', isReady);
  assert.deepEqual([cpusOf(own), memsOf(own)], ['1', '0']);
  assert.match(quotaOf(own), /^(-1|max)$/);
  await kubelet.until('the other pod does not use the CPU', () => cpusOf(shared, '/besteffort') !== all);
  assert.doesNotMatch(cpusOf(shared, '/besteffort'), /1/);
  const { entries } = state('cpu_manager_state');
  assert.deepEqual(entries, { [own.metadata.uid]: { main: '1' } });
  const blocks = [{ numaAffinity: [0], type: 'memory', size: 64 << 20 }];
  assert.deepEqual(state('memory_manager_state').entries, { [own.metadata.uid]: { main: blocks } });
});

test('a kubelet with a different policy or different reserved CPUs rejects the checkpoint', async () => {
  await kubelet.handle.close();
  const { placement, rootDir } = kubelet.options;
  const check = async (cpu: Partial<typeof placement.cpu>, message: string) => {
    const options = { ...kubelet.options, placement: { ...placement, cpu: { ...placement.cpu, ...cpu } } };
    await assert.rejects(startKubelet(options), { message });
  };
  const file = join(rootDir, 'cpu_manager_state');
  const advice = `please drain this node and delete the CPU manager checkpoint file "${file}" before restarting Kubelet`;
  await check(
    { policy: 'none' },
    `could not restore state from checkpoint: configured policy "none" differs from state checkpoint policy "static", ${advice}`,
  );
  await check(
    { reserved: [1] },
    `invalid state, please drain node and remove policy state file ${file}: not all reserved cpus: "1" are present in defaultCpuSet: "0"`,
  );
  await killKubelet(await startKubeletChild(kubelet.options));
  kubelet.handle = await startKubelet(kubelet.options);
  assert.equal(cpusOf(await kubelet.pod('own', isReady)), '1');
});

test('the CPU stays exclusive across a kubelet restart, and is shared again after the pod is removed', async () => {
  const own = await kubelet.pod('own', isReady);
  await kubelet.restart();
  const after = await kubelet.pod('own', isReady);
  assert.equal(after.status!.containerStatuses![0]!.containerID, own.status!.containerStatuses![0]!.containerID);
  assert.equal(cpusOf(after), '1');
  const shared = await kubelet.pod('shared', isReady);
  await kubelet.remove('own.yaml');
  await kubelet.until('the other pod uses all CPUs', () => /^0-/.test(cpusOf(shared, '/besteffort')));
  assert.equal(state('memory_manager_state').entries, undefined);
});
