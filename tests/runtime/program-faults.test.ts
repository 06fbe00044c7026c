/** Programs used by the runtime fail, hang, die or are missing: the error is reported, and nothing is left behind. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ContainerState } from '@podwright/cri';
import { fastPaths } from '../fixtures/fast-paths.ts';
import { takeInventory } from '../fixtures/host-inventory.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const runtime = new RuntimeUnderTest();
const { place } = runtime;
const programs = mkdtempSync('/tmp/pw-programs-');

before(async () => {
  wrap('runc', '/usr/sbin/runc');
  wrap('conmon', '/usr/bin/conmon');
  for (const plugin of ['bridge', 'host-local']) wrap(plugin, `/usr/lib/cni/${plugin}`);
  const network = { ...place.options.network, binDirs: [programs] };
  await runtime.start({ ociRuntime: join(programs, 'runc'), conmon: join(programs, 'conmon'), network });
});
after(async () => {
  const left = await runtime.end();
  rmSync(programs, { recursive: true });
  assert.deepEqual(left, []);
});

/** Installs a wrapper for a program: a script that runs the shell commands in `NAME.rule`, if that file exists, and then the program. */
function wrap(name: string, program: string): void {
  const path = join(programs, name);
  writeFileSync(path, `#!/bin/sh\n[ -e ${path}.rule ] && . ${path}.rule\nexec ${program} "$@"\n`);
  chmodSync(path, 0o755);
}

async function withRule(name: string, script: string, work: () => Promise<void>): Promise<void> {
  const path = join(programs, `${name}.rule`);
  writeFileSync(path, script);
  try {
    await work();
  } finally {
    rmSync(path);
  }
}

async function without(name: string, work: () => Promise<void>): Promise<void> {
  const path = join(programs, name);
  renameSync(path, `${path}.away`);
  try {
    await work();
  } finally {
    renameSync(`${path}.away`, path);
  }
}

/** Creates a sandbox and a container in it. The container is not started. */
async function created(name: string): Promise<{ podSandboxId: string; containerId: string }> {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, name) });
  const config = containerOf(image, 'main', 'exec sleep 1000');
  return { podSandboxId, ...(await cri.runtime.createContainer({ podSandboxId, config })) };
}

async function started(name: string): Promise<{ podSandboxId: string; containerId: string }> {
  const pod = await created(name);
  await runtime.cri.runtime.startContainer({ containerId: pod.containerId });
  return pod;
}

async function assertEnded(containerId: string, reason: string, message: RegExp): Promise<void> {
  const { status } = await runtime.cri.runtime.containerStatus({ containerId });
  assert.deepEqual([status?.state, status?.reason], [ContainerState.CONTAINER_EXITED, reason]);
  assert.match(status?.message ?? '', message);
}

/** Asserts that a container can be started in the same pod once the fault is over, and that the pod can be removed. */
async function assertRecovers(podSandboxId: string): Promise<void> {
  const { cri, image } = runtime;
  const config = { ...containerOf(image, 'main', 'exec sleep 1000'), metadata: { name: 'main', attempt: 1 } };
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
}

const onCreate = (script: string) => `case "$*" in *create*) ${script};; esac`;
const failures: [string, string, string, RegExp][] = [
  ['the OCI runtime fails', 'runc', onCreate('echo "no more containers" >&2; exit 1'), /no more containers/],
  ['the OCI runtime is killed', 'runc', onCreate('kill -9 $$'), /create task/],
  ['the monitor fails', 'conmon', 'echo "no more monitors" >&2; exit 1', /no more monitors/],
  ['the monitor is killed', 'conmon', 'kill -9 $$', /create task/],
];
for (const [what, program, script, message] of failures) {
  test(`when ${what} at a create, the container has exited with its message, and the next attempt starts`, async () => {
    const { podSandboxId, containerId } = await created('failing');
    await withRule(program, script, async () => {
      await assert.rejects(runtime.cri.runtime.startContainer({ containerId }), message);
    });
    await assertEnded(containerId, 'StartError', message);
    await assertRecovers(podSandboxId);
  });
}

for (const program of ['runc', 'conmon']) {
  test(`a pod whose container hangs in ${program} can be stopped and removed`, async () => {
    const { cri } = runtime;
    const { podSandboxId, containerId } = await created('hanging');
    const hang = 'sleep 1000 & exec sleep 1000';
    await withRule(program, program === 'runc' ? onCreate(hang) : hang, async () => {
      const starting = cri.runtime.startContainer({ containerId }, { timeoutMs: 1000 });
      await assert.rejects(starting, { code: 'deadline_exceeded' });
      await cri.runtime.stopPodSandbox({ podSandboxId });
    });
    await assertEnded(containerId, 'StartError', /stopped before it had started/);
    await cri.runtime.removePodSandbox({ podSandboxId });
    assert.deepEqual(await runtime.remains(), []);
  });
}

test('a container that hangs in runc can be removed separately', async () => {
  const { cri } = runtime;
  const { podSandboxId, containerId } = await created('hanging');
  await withRule('runc', onCreate('exec sleep 1000'), async () => {
    const starting = cri.runtime.startContainer({ containerId }, { timeoutMs: 1000 });
    await assert.rejects(starting, { code: 'deadline_exceeded' });
    await cri.runtime.removeContainer({ containerId });
  });
  await assertRecovers(podSandboxId);
});

test('the runtime is not ready while a program required by pods is missing', async () => {
  const readiness = async () => {
    const { status } = await runtime.cri.runtime.status({});
    return status?.conditions.find(({ type }) => type === 'RuntimeReady');
  };
  for (const program of ['runc', 'conmon']) {
    await without(program, async () => {
      const condition = await readiness();
      assert.equal(condition?.status, false, program);
      assert.match(condition?.message ?? '', new RegExp(`find ${join(programs, program)}`));
    });
    assert.equal((await readiness())?.status, true, program);
  }
});

test('containers are stopped and removed even if all programs are missing; without fast paths only once runc is back', async () => {
  const { cri } = runtime;
  const { podSandboxId, containerId } = await started('bereft');
  const end = async () => {
    await cri.runtime.stopContainer({ containerId, timeout: 0n });
    await cri.runtime.removeContainer({ containerId });
    await cri.runtime.stopPodSandbox({ podSandboxId });
    await cri.runtime.removePodSandbox({ podSandboxId });
  };
  await without('runc', () => without('conmon', () => (fastPaths ? end() : assert.rejects(end(), /runc/))));
  await end();
  assert.deepEqual(await runtime.remains(), []);
});

for (const program of ['runc', 'conmon']) {
  test(`a container is not started while ${program} is missing, and its next attempt is`, async () => {
    const { podSandboxId, containerId } = await created('early');
    await without(program, async () => {
      await assert.rejects(runtime.cri.runtime.startContainer({ containerId }), new RegExp(program));
    });
    await assertRecovers(podSandboxId);
  });
}

test('the error for a missing network plugin includes its name, and retries succeed once it is back', async () => {
  const { cri } = runtime;
  const { bridge, subnet, confDir } = place.options.network;
  const ipam = { type: 'host-local', dataDir: join(confDir, 'addresses'), ranges: [[{ subnet }]] };
  const list = { cniVersion: '0.4.0', name: 'host', plugins: [{ type: 'bridge', bridge, isGateway: true, ipam }] };
  writeFileSync(join(confDir, '10-host.conflist'), JSON.stringify(list));
  const { podSandboxId } = await started('plugged');
  const config = podOf(place, 'unplugged');
  await without('bridge', () =>
    without('host-local', async () => {
      await assert.rejects(cri.runtime.runPodSandbox({ config }), /bridge/);
      await assert.rejects(cri.runtime.stopPodSandbox({ podSandboxId }), /bridge/);
      const { status } = await cri.runtime.status({});
      const network = status?.conditions.find(({ type }) => type === 'NetworkReady');
      assert.equal(network?.status, false);
      assert.match(network?.message ?? '', /bridge/);
    }),
  );
  await cri.runtime.removePodSandbox({ podSandboxId });
  const again = await cri.runtime.runPodSandbox({ config });
  await cri.runtime.removePodSandbox({ podSandboxId: again.podSandboxId });
  rmSync(join(confDir, '10-host.conflist'));
  assert.deepEqual(await runtime.remains(), []);
});

test('when a container’s monitor dies, the container has exited with that reason', async () => {
  const { podSandboxId, containerId } = await started('orphan');
  const pid = readFileSync(join(place.options.state, 'oci/bundles', containerId, 'conmon.pid'), 'utf8');
  process.kill(Number(pid), 'SIGKILL');
  await runtime.untilExited(containerId);
  await assertEnded(containerId, 'Error', /monitor/);
  const left = takeInventory(place.scope).processes.filter((line) => line.includes('sleep 1000'));
  assert.deepEqual(left, []);
  await assertRecovers(podSandboxId);
});
