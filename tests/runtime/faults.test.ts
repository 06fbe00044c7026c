import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { PodSandboxState } from '@podwright/cri';
import { startRuntime } from '@podwright/runtime';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

/** Functions called at stages (failpoints), set by tests. */
const stages = new Map<string, () => Promise<void> | void>();
const runtime = new RuntimeUnderTest();
const { place } = runtime;
const plugins = join(place.directory, 'plugins');
const rule = join(plugins, 'rule');

before(async () => {
  makePlugins();
  const network = { ...place.options.network, binDirs: [plugins, ...place.options.network.binDirs] };
  await runtime.start({ failpoint: (stage) => stages.get(stage)?.(), network });
});
after(async () => {
  rmSync(plugins, { recursive: true, force: true });
  assert.deepEqual(await runtime.end(), []);
});

/** Writes a wrapper for the `bridge` plugin that first runs the shell script in the file `rule`. */
function makePlugins(): void {
  mkdirSync(plugins);
  const path = join(plugins, 'bridge');
  writeFileSync(path, `#!/bin/sh\n[ -e ${rule} ] && . ${rule}\nexec /usr/lib/cni/bridge\n`);
  chmodSync(path, 0o755);
}

/** Runs `work` while the host has a CNI configuration that uses the `bridge` plugin, for which the runtime finds the wrapper. */
async function withHostNetwork(work: () => Promise<void>): Promise<void> {
  const { bridge, subnet, confDir } = place.options.network;
  const ipam = { type: 'host-local', dataDir: join(confDir, 'addresses'), ranges: [[{ subnet }]] };
  const list = { cniVersion: '0.4.0', name: 'host', plugins: [{ type: 'bridge', bridge, isGateway: true, ipam }] };
  const path = join(confDir, '10-host.conflist');
  writeFileSync(path, JSON.stringify(list));
  try {
    await work();
  } finally {
    rmSync(path);
  }
}

/** Like `withHostNetwork`, but the `bridge` plugin first runs this shell script. */
async function withPluginRule(script: string, work: () => Promise<void>): Promise<void> {
  writeFileSync(rule, script);
  try {
    await withHostNetwork(work);
  } finally {
    rmSync(rule, { force: true });
  }
}

const refuseCni = `echo '{"cniVersion":"0.4.0","code":11,"msg":"the plugin refuses"}'; exit 1`;

/** Returns a promise to wait for, and a function that resolves it. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { wait: () => promise, open: resolve };
}

for (const stage of ['sandbox-run/recorded', 'sandbox-run/created', 'sandbox-run/network-up']) {
  test(`a failure at ${stage} leaves nothing behind, and the retry succeeds`, async () => {
    const { cri } = runtime;
    const config = podOf(place, 'failing');
    stages.set(stage, () => Promise.reject(new Error('no more today')));
    await assert.rejects(cri.runtime.runPodSandbox({ config }), /no more today/);
    stages.clear();
    assert.deepEqual((await cri.runtime.listPodSandbox({})).items, []);
    assert.deepEqual(await runtime.remains(), []);
    const { podSandboxId } = await cri.runtime.runPodSandbox({ config });
    await cri.runtime.removePodSandbox({ podSandboxId });
    assert.deepEqual(await runtime.remains(), []);
  });
}

for (const stage of ['recorded', 'rootfs-mounted', 'files-made', 'resolved', 'committed'].map(
  (name) => `container-create/${name}`,
)) {
  test(`a failure at ${stage} leaves nothing of the container behind, and the retry succeeds`, async () => {
    const { cri, image } = runtime;
    const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'failing') });
    const things = runtime.podThings();
    const request = { podSandboxId, config: containerOf(image, 'main', 'sleep 1') };
    stages.set(stage, () => Promise.reject(new Error('no more today')));
    await assert.rejects(cri.runtime.createContainer(request), /no more today/);
    stages.clear();
    assert.deepEqual((await cri.runtime.listContainers({})).containers, []);
    assert.deepEqual(
      runtime.podThings().filter((line) => !things.includes(line) && !line.includes('/trash/')),
      [],
    );
    await cri.runtime.createContainer(request);
    await cri.runtime.removePodSandbox({ podSandboxId });
    assert.deepEqual(await runtime.remains(), []);
  });
}

test('a RunPodSandbox call whose caller has disconnected completes, and the retry returns its sandbox', async () => {
  const { cri } = runtime;
  const config = podOf(place, 'patient');
  const slow = gate();
  stages.set('sandbox-run/created', slow.wait);
  await assert.rejects(cri.runtime.runPodSandbox({ config }, { timeoutMs: 300 }), { code: 'deadline_exceeded' });
  const retry = cri.runtime.runPodSandbox({ config });
  slow.open();
  const { podSandboxId } = await retry;
  stages.clear();
  const again = await cri.runtime.runPodSandbox({ config });
  assert.equal(again.podSandboxId, podSandboxId, 'the retry gets the same answer');
  assert.equal((await cri.runtime.listPodSandbox({})).items.length, 1);
  await assert.rejects(cri.runtime.runPodSandbox({ config: { ...config, hostname: 'other' } }), {
    code: 'already_exists',
  });
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('a CreateContainer call whose caller has disconnected completes, and the retry returns its container', async () => {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'patient') });
  const request = { podSandboxId, config: containerOf(image, 'main', 'sleep 1') };
  const slow = gate();
  stages.set('container-create/recorded', slow.wait);
  await assert.rejects(cri.runtime.createContainer(request, { timeoutMs: 300 }), { code: 'deadline_exceeded' });
  slow.open();
  const { containerId } = await cri.runtime.createContainer(request);
  stages.clear();
  assert.equal((await cri.runtime.createContainer(request)).containerId, containerId);
  assert.equal((await cri.runtime.listContainers({})).containers.length, 1);
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

/** Makes `call`. While it waits at `stage`, makes `other`, which must be rejected because its request differs. */
async function refusedMeanwhile<T>(
  stage: string,
  { call, other, difference }: { call: () => Promise<T>; other: () => Promise<unknown>; difference: RegExp },
): Promise<T> {
  const [reached, slow] = [gate(), gate()];
  stages.set(stage, () => {
    reached.open();
    return slow.wait();
  });
  const first = call();
  await reached.wait();
  await assert.rejects(other(), { code: 'already_exists', message: difference }).finally(slow.open);
  stages.clear();
  return await first;
}

test('a concurrent call for the same name with a different configuration is rejected with the difference', async () => {
  const { cri, image } = runtime;
  const sandbox = podOf(place, 'twice');
  const container = containerOf(image, 'main', 'sleep 1');
  const patience = { timeoutMs: 5000 };
  const { podSandboxId } = await refusedMeanwhile('sandbox-run/created', {
    call: () => cri.runtime.runPodSandbox({ config: sandbox }),
    other: () => cri.runtime.runPodSandbox({ config: { ...sandbox, labels: { tier: 'back' } } }, patience),
    difference: /run sandbox twice_default_uid-twice_0: a call with another labels\.tier is under way/,
  });
  const { containerId } = await refusedMeanwhile('container-create/recorded', {
    call: () => cri.runtime.createContainer({ podSandboxId, config: container }),
    other: () => cri.runtime.createContainer({ podSandboxId, config: { ...container, args: ['x'] } }, patience),
    difference: /create container .*_main_0: a call with another args\.0 is under way/,
  });
  const again = await cri.runtime.createContainer({ podSandboxId, config: container });
  assert.equal(again.containerId, containerId);
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('a hanging CNI plugin is killed once all callers have canceled, and leaves nothing behind', async () => {
  const { cri } = runtime;
  const config = podOf(place, 'hanging');
  const caller = new AbortController();
  mkdirSync(place.logs, { recursive: true });
  const reached = join(place.logs, 'reached');
  await withPluginRule(`[ $CNI_COMMAND = ADD ] && { touch ${reached}; sleep 1000 & exec sleep 1000; }`, async () => {
    const call = cri.runtime.runPodSandbox({ config }, { signal: caller.signal });
    await waitFor(() => existsSync(reached) || undefined, { intervalMs: 10, signal: AbortSignal.timeout(60_000) });
    caller.abort();
    await assert.rejects(call);
  });
  assert.deepEqual(await runtime.remains(), []);
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config });
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('a CNI plugin failure is reported with its message, and leaves nothing behind', async () => {
  const { cri } = runtime;
  const config = podOf(place, 'nonet');
  await withPluginRule(`[ $CNI_COMMAND = ADD ] && { ${refuseCni}; }`, async () => {
    await assert.rejects(cri.runtime.runPodSandbox({ config }), /the plugin refuses/);
  });
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config });
  await cri.runtime.removePodSandbox({ podSandboxId });
});

test('a CNI plugin that fails to clean up leaves a sandbox that the retry removes', async () => {
  const { cri } = runtime;
  const config = podOf(place, 'stuck');
  stages.set('sandbox-run/network-up', () => Promise.reject(new Error('no more today')));
  await withPluginRule(`[ $CNI_COMMAND = DEL ] && { ${refuseCni}; }`, async () => {
    await assert.rejects(cri.runtime.runPodSandbox({ config }), /no more today/);
  });
  stages.clear();
  const [broken] = (await cri.runtime.listPodSandbox({})).items;
  assert.equal(broken?.state, PodSandboxState.SANDBOX_NOTREADY);
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config });
  assert.deepEqual(
    (await cri.runtime.listPodSandbox({})).items.map(({ id }) => id),
    [podSandboxId],
  );
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('a StopPodSandbox call that fails in a CNI plugin is completed by the next one', async () => {
  const { cri } = runtime;
  let podSandboxId = '';
  await withHostNetwork(async () => {
    ({ podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'stopfail') }));
  });
  await withPluginRule(`[ $CNI_COMMAND = DEL ] && { ${refuseCni}; }`, async () => {
    await assert.rejects(cri.runtime.stopPodSandbox({ podSandboxId }), /the plugin refuses/);
  });
  await cri.runtime.stopPodSandbox({ podSandboxId });
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('a container started while its sandbox is being stopped does not outlive it', async () => {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, 'race') });
  const config = containerOf(image, 'main', 'exec sleep 1000');
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  const slow = gate();
  stages.set('container-start/task-created', slow.wait);
  const start = cri.runtime.startContainer({ containerId });
  const stop = cri.runtime.stopPodSandbox({ podSandboxId });
  slow.open();
  await Promise.all([start, stop]);
  stages.clear();
  await cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('many pods are run and removed at once', async () => {
  const { cri, image } = runtime;
  const ids = await Promise.all(
    Array.from({ length: 10 }, async (_, index) => {
      const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, `many-${index}`) });
      const config = containerOf(image, 'main', 'exec sleep 1000');
      const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
      await cri.runtime.startContainer({ containerId });
      return podSandboxId;
    }),
  );
  const { items } = await cri.runtime.listPodSandbox({ filter: { state: { state: PodSandboxState.SANDBOX_READY } } });
  assert.equal(items.length, 10);
  await Promise.all(ids.map((podSandboxId) => cri.runtime.removePodSandbox({ podSandboxId })));
  assert.deepEqual(await runtime.remains(), []);
});

test('a second runtime with the same root directory is rejected, and the first one is not affected', async () => {
  const options = { ...place.options, socket: join(place.directory, 'other.sock'), logger: silentLogger };
  await assert.rejects(startRuntime(options), { code: 'already_exists' });
  await runtime.cri.runtime.version({});
});

test('a second runtime with the same state directory is refused before it removes the pods of the first as leftovers', async () => {
  const { podSandboxId } = await runtime.cri.runtime.runPodSandbox({ config: podOf(place, 'first') });
  const [root, socket] = ['other-root', 'other.sock'].map((name) => join(place.directory, name));
  const options = { ...place.options, root: root!, socket: socket!, logger: silentLogger };
  await assert.rejects(startRuntime(options), { code: 'already_exists', message: /this state directory/ });
  rmSync(options.root, { recursive: true });
  const { status } = await runtime.cri.runtime.podSandboxStatus({ podSandboxId });
  assert.equal(status?.state, PodSandboxState.SANDBOX_READY);
  await runtime.cri.runtime.removePodSandbox({ podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});

test('two runtimes can run on one host', async () => {
  const other = await new RuntimeUnderTest().start();
  const [one, two] = await Promise.all(
    [runtime, other].map(async ({ cri, place: at }) => {
      const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(at, 'twin') });
      const { status } = await cri.runtime.podSandboxStatus({ podSandboxId });
      return { podSandboxId, ip: status?.network?.ip };
    }),
  );
  assert.notEqual(one!.ip, two!.ip);
  assert.deepEqual(await other.end(), []);
  const { status } = await runtime.cri.runtime.podSandboxStatus({ podSandboxId: one!.podSandboxId });
  assert.equal(status?.state, PodSandboxState.SANDBOX_READY);
  await runtime.cri.runtime.removePodSandbox({ podSandboxId: one!.podSandboxId });
  assert.deepEqual(await runtime.remains(), []);
});
