/** What plugins see of pods and containers, and how they change existing ones. */
import assert from 'node:assert/strict';
import { mkdtempSync, readlinkSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { ContainerState } from '@podwright/cri';
import { runChecked } from '@podwright/host';
import type { PluginHandlers } from '@podwright/nri';
import { podOf } from '../fixtures/pods.ts';
import { EVENT_NAMES_OF_PODS } from './nri-options.fixture.ts';
import { nriUnderTest } from './nri-under-test.fixture.ts';

const { runtime, nri, withPlugin, runPod, create, start, end } = nriUnderTest();
before(start);
after(async () => assert.deepEqual(await end(), [], 'the runtime leaves nothing on the host'));

const { place } = runtime;

test('pod events arrive in order, including what the CRI client requested', async () => {
  const seen: string[] = [];
  const on = (event: string) => (request: { pod?: { name: string }; container?: { name: string; exitCode: number } }) =>
    void seen.push([event, request.pod?.name, request.container?.name].filter(Boolean).join(' '));
  const handlers = Object.fromEntries(EVENT_NAMES_OF_PODS.map((event) => [event, on(event)])) as PluginHandlers;
  await withPlugin(handlers, async () => {
    const podSandboxId = await runPod('ordered');
    const containerId = await create(podSandboxId, 'main');
    await runtime.cri.runtime.startContainer({ containerId });
    await runtime.cri.runtime.updateContainerResources({ containerId, linux: { memoryLimitInBytes: 64n << 20n } });
    await runtime.cri.runtime.updatePodSandboxResources({ podSandboxId });
    await runtime.cri.runtime.stopContainer({ containerId, timeout: 5n });
    await runtime.cri.runtime.removeContainer({ containerId });
    await runtime.cri.runtime.stopPodSandbox({ podSandboxId });
    await runtime.cri.runtime.stopPodSandbox({ podSandboxId });
    await runtime.cri.runtime.removePodSandbox({ podSandboxId });
  });
  assert.deepEqual(seen, [
    'runPodSandbox ordered',
    ...['createContainer', 'postCreateContainer', 'startContainer', 'postStartContainer'].map(
      (e) => `${e} ordered main`,
    ),
    ...['updateContainer', 'postUpdateContainer'].map((event) => `${event} ordered main`),
    'updatePodSandbox ordered',
    'postUpdatePodSandbox ordered',
    ...['stopContainer', 'removeContainer'].map((event) => `${event} ordered main`),
    'stopPodSandbox ordered',
    'removePodSandbox ordered',
  ]);
});

test('plugins receive pod resources in RunPodSandbox, and the container process in StartContainer', async () => {
  const seen: unknown[] = [];
  const handlers: PluginHandlers = {
    runPodSandbox: ({ pod }) => {
      const { podOverhead, podResources } = pod!.linux!;
      seen.push(podOverhead?.cpu?.shares?.value, podResources?.memory?.limit?.value);
      return undefined;
    },
    startContainer: ({ container }) => void seen.push(readlinkSync(`/proc/${container!.pid}/cwd`)),
  };
  await withPlugin(handlers, async () => {
    const { linux, ...others } = podOf(place, 'resources');
    const overhead = { cpuShares: 50n };
    const config = { ...others, linux: { ...linux, overhead, resources: { memoryLimitInBytes: 64n << 20n } } };
    const { podSandboxId } = await runtime.cri.runtime.runPodSandbox({ config: config as never });
    const containerId = await create(podSandboxId, 'main');
    await runtime.cri.runtime.startContainer({ containerId });
  });
  assert.deepEqual(seen, [50n, 64n << 20n, '/']);
});

test('a creation fails if the source of an added mount lacks the requested propagation', async () => {
  const source = mkdtempSync(join(place.directory, 'private-'));
  await runChecked('mount', ['-t', 'tmpfs', 'none', source]);
  await runChecked('mount', ['--make-private', source]);
  const mount = { destination: '/shared', type: 'bind', source, options: ['rbind', 'rshared'] };
  await withPlugin({ createContainer: () => ({ adjust: { mounts: [mount] } }) }, async () => {
    const podSandboxId = await runPod('propagation');
    await assert.rejects(create(podSandboxId, 'main'), /bidirectional.* not shared/);
    await runChecked('mount', ['--make-shared', source]);
    await create(podSandboxId, 'main');
    await runtime.cri.runtime.removePodSandbox({ podSandboxId });
  });
  await runChecked('umount', [source]);
  rmdirSync(source);
});

test('plugins change other containers when one is created, and at any other time', async () => {
  const podSandboxId = await runPod('updates');
  const old = await create(podSandboxId, 'old');
  await runtime.cri.runtime.startContainer({ containerId: old });
  const limitOf = async () => {
    const { status } = await runtime.cri.runtime.containerStatus({ containerId: old });
    return Number(status?.resources?.linux?.memoryLimitInBytes ?? 0n) >> 20;
  };
  const memory = (megabytes: number) => ({
    containerId: old,
    linux: { resources: { memory: { limit: { value: BigInt(megabytes << 20) } } } },
  });
  await withPlugin({ createContainer: () => ({ update: [memory(80)] }) }, async (plugin) => {
    await create(podSandboxId, 'new');
    assert.equal(await limitOf(), 80);
    assert.deepEqual(await plugin.update([memory(70)]), []);
    assert.equal(await limitOf(), 70);
    const [failed] = await plugin.update([{ ...memory(0), linux: { resources: { cpu: { cpus: '4096' } } } }]);
    assert.equal(failed?.containerId, old);
    assert.deepEqual(await plugin.update([{ ...memory(1), containerId: 'unknown' }]), []);
  });
  await withPlugin({ createContainer: () => ({ evict: [{ containerId: old, reason: 'test' }] }) }, async () => {
    await create(podSandboxId, 'newer');
    const { status } = await runtime.cri.runtime.containerStatus({ containerId: old });
    assert.equal(status?.state, ContainerState.CONTAINER_EXITED);
  });
});

test('plugins may modify updates from clients', async () => {
  const podSandboxId = await runPod('replaced');
  const containerId = await create(podSandboxId, 'main');
  const handlers: PluginHandlers = {
    updateContainer: ({ container }) => ({
      update: [
        { containerId: container!.id, linux: { resources: { memory: { limit: { value: BigInt(90 << 20) } } } } },
      ],
    }),
  };
  await withPlugin(handlers, async () => {
    const linux = { memoryLimitInBytes: 64n << 20n, cpuShares: 300n };
    await runtime.cri.runtime.updateContainerResources({ containerId, linux });
  });
  const { status } = await runtime.cri.runtime.containerStatus({ containerId });
  const { memoryLimitInBytes, cpuShares } = status!.resources!.linux!;
  assert.deepEqual([memoryLimitInBytes, cpuShares], [90n << 20n, 300n]);
});

test('a container exit is reported once, with its exit code, even if the container ends by itself', async () => {
  const exits: number[] = [];
  await withPlugin({ stopContainer: ({ container }) => void exits.push(container!.exitCode) }, async () => {
    const podSandboxId = await runPod('exits');
    const containerId = await create(podSandboxId, 'main', 'exit 3');
    await runtime.cri.runtime.startContainer({ containerId });
    const signal = AbortSignal.timeout(20_000);
    await waitFor(() => exits.length > 0 || undefined, { intervalMs: 20, signal });
    await runtime.cri.runtime.stopContainer({ containerId, timeout: 0n });
    await runtime.cri.runtime.removePodSandbox({ podSandboxId });
  });
  assert.deepEqual(exits, [3]);
});

test('a plugin that connects while pods are created neither misses nor duplicates any', async () => {
  const counts = new Map<string, number>();
  const count = (id: string) => void counts.set(id, (counts.get(id) ?? 0) + 1);
  const podSandboxId = await runPod('joining');
  const creations = Promise.all(Array.from({ length: 12 }, (_, number) => create(podSandboxId, `c${number}`)));
  const first = { createContainer: () => new Promise<undefined>((resolve) => setTimeout(resolve, 20, undefined)) };
  await withPlugin(first, async () => {
    const handlers: PluginHandlers = {
      synchronize: (_pods, containers) => {
        for (const { id } of containers) count(id);
        return [];
      },
      createContainer: ({ container }) => count(container!.id) as undefined,
    };
    await withPlugin(handlers, async () => {
      const ids = await creations;
      assert.deepEqual(
        ids.map((id) => counts.get(id)),
        ids.map(() => 1),
      );
    });
  });
});

test('a hanging plugin delays a pod only once, by its timeout', async () => {
  const closed = await withPlugin({ runPodSandbox: () => new Promise(() => undefined) }, async (plugin) => {
    const startedAt = performance.now();
    await runPod('delayed');
    assert.ok(performance.now() - startedAt < nri.requestTimeoutMs + 5000);
    return plugin.closed;
  });
  await closed;
});
