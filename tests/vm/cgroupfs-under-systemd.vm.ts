/**
 * The cgroupfs driver on a host whose cgroup v2 tree is managed by systemd: container limits survive when systemd changes its own units and
 * the controllers of the root cgroup, which it disables when no unit needs them.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runChecked } from '@podwright/host';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const place = makeTestPlace();
const runtime = new RuntimeUnderTest(place);
before(() => runtime.start({ cgroupDriver: 'cgroupfs' }));
after(async () => assert.deepEqual(await runtime.end(), []));

const RESOURCES = {
  cpuPeriod: 100_000n,
  cpuQuota: 20_000n,
  cpusetCpus: '0',
  memoryLimitInBytes: 64n << 20n,
  unified: { 'pids.max': '30', 'cpu.weight': '50' },
};
const LIMITS = {
  'cpu.max': '20000 100000',
  'cpuset.cpus': '0',
  'memory.max': `${64 << 20}`,
  'pids.max': '30',
  'cpu.weight': '50',
};

async function start(name: string, runtimeHandler: string) {
  const { cri, image } = runtime;
  const sandboxConfig = podOf(place, name);
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: sandboxConfig, runtimeHandler });
  const config = { ...containerOf(image, 'main', 'exec sleep 1000'), linux: { resources: RESOURCES } };
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config, sandboxConfig });
  await cri.runtime.startContainer({ containerId });
  return { podSandboxId, containerId };
}

function limitsOf(containerId: string): Record<string, string> {
  const directory = join('/sys/fs/cgroup', place.options.cgroupParent, containerId);
  const read = (name: string) => readFileSync(join(directory, name), 'utf8').trim();
  return Object.fromEntries(Object.keys(LIMITS).map((name) => [name, read(name)]));
}

/** Starts and stops a unit that needs all controllers, then reloads and re-executes systemd, which makes it visit the entire tree. */
async function stirSystemd(): Promise<void> {
  const needs = ['CPUWeight=50', 'AllowedCPUs=0', 'IOWeight=50', 'MemoryMax=1G', 'TasksMax=100'];
  await runChecked('systemd-run', ['--wait', ...needs.flatMap((need) => ['-p', need]), 'true']);
  await runChecked('systemctl', ['daemon-reload']);
  await runChecked('systemctl', ['daemon-reexec']);
}

for (const handler of ['crun', 'runc'])
  test(`limits of containers of ${handler} are not affected by systemd, nor are later limits and containers`, async () => {
    const { runtime: cri } = runtime.cri;
    const early = await start(`early-${handler}`, handler);
    assert.deepEqual(limitsOf(early.containerId), LIMITS);
    await stirSystemd();
    assert.deepEqual(limitsOf(early.containerId), LIMITS);
    await cri.updateContainerResources({ containerId: early.containerId, linux: { cpuQuota: 50_000n } });
    assert.deepEqual(limitsOf(early.containerId), { ...LIMITS, 'cpu.max': '50000 100000' });
    const late = await start(`late-${handler}`, handler);
    assert.deepEqual(limitsOf(late.containerId), LIMITS);
    for (const { podSandboxId } of [early, late]) await cri.removePodSandbox({ podSandboxId });
    await stirSystemd();
    const again = await start(`again-${handler}`, handler);
    assert.deepEqual(limitsOf(again.containerId), LIMITS);
    await cri.removePodSandbox({ podSandboxId: again.podSandboxId });
  });
