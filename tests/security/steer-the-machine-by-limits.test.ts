/** A CRI client sets cgroup files other than limits, which could move, freeze or kill unrelated processes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { discoverCgroups } from '@podwright/host';
import { createIn, type Pod, podConfig, runPod, startIn } from '../conformance/pods.fixture.ts';
import { openOurs } from '../conformance/runtimes.fixture.ts';

let runtime: Awaited<ReturnType<typeof openOurs>>;
let pod: Pod;
let running: string;
let v2: boolean;
before(async () => {
  runtime = await openOurs();
  pod = await runPod(runtime, 'limits');
  running = await startIn(runtime, pod, { name: 'running', script: 'exec sleep 1000' });
  v2 = (await discoverCgroups()).mode === 'v2';
});
after(() => runtime?.end());

const script = 'exec sleep 1000';
const create = (name: string, resources: object) => createIn(runtime, pod, { name, script, linux: { resources } });
const update = (resources: object) =>
  runtime.cri.runtime.updateContainerResources({ containerId: running, linux: resources });

test('no process is moved into a container by its limits', async () => {
  const own = readFileSync('/proc/self/cgroup', 'utf8');
  for (const file of [
    'cgroup.procs',
    'cgroup.threads',
    'cgroup.kill',
    'cgroup.freeze',
    '../cgroup.procs',
    'memory/../cgroup.procs',
  ]) {
    const resources = { unified: { [file]: String(process.pid) } };
    const expected = { code: 'invalid_argument', message: new RegExp(`unified: "${file}" is not a file`) };
    await assert.rejects(create('mover', resources), expected);
    await assert.rejects(update(resources), expected);
  }
  assert.equal(readFileSync('/proc/self/cgroup', 'utf8'), own);
});

test('cgroup v2 files are set on a cgroup v2 host and rejected on others, like containerd with runc does', async () => {
  const resources = { unified: { 'memory.high': String(64 << 20) } };
  const expected = { code: 'invalid_argument', message: /set unified memory\.high: this host has cgroup v1/ };
  for (const call of [() => create('high', resources), () => update(resources)])
    await (v2 ? call() : assert.rejects(call(), expected));
});

test('limits out of range and cgroups outside of their parents are rejected by name', async () => {
  const bad: [string, object][] = [
    ['cpuShares', { cpuShares: -1n }],
    ['cpuQuota', { cpuQuota: -2n }],
    ['cpuQuota', { cpuQuota: 2n ** 62n }],
    ['cpuPeriod', { cpuPeriod: 1n }],
    ['memoryLimitInBytes', { memoryLimitInBytes: 2n ** 62n }],
    ['oomScoreAdj', { oomScoreAdj: 1001n }],
    ['cpusetCpus', { cpusetCpus: '0;1' }],
  ];
  for (const [field, resources] of bad) {
    const expected = { code: 'invalid_argument', message: new RegExp(field) };
    await assert.rejects(create('bad', resources), expected);
    await assert.rejects(update(resources), expected);
  }
  for (const cgroupParent of ['/kubepods/../../x', '..', 'a/..']) {
    const config = { ...podConfig(runtime, 'out'), linux: { cgroupParent } };
    await assert.rejects(runtime.cri.runtime.runPodSandbox({ config }), {
      code: 'invalid_argument',
      message: /cgroupParent/,
    });
  }
});
