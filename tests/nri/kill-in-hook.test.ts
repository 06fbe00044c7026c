/** Kills the runtime while a plugin is handling an event. After a restart, the runtime completes or rolls back what was in progress. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ContainerState } from '@podwright/cri';
import { type PluginHandlers, type RunningPlugin, runPlugin } from '@podwright/nri';
import { type KillableRuntime, startKillable } from '../fixtures/killable-runtime.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { EVENT_NAMES_OF_PODS, nriOptions } from './nri-options.fixture.ts';

const place = makeTestPlace();
const nri = nriOptions(place);
place.options.nri = nri;
const runtime = new RuntimeUnderTest(place);
let daemon: KillableRuntime;
before(async () => {
  await runtime.start();
  await runtime.stop();
  daemon = await startKillable(place);
});
after(async () => {
  await daemon.kill();
  await runtime.start({}, { load: false });
  assert.deepEqual(await runtime.end(), []);
});

const EVENTS = [...EVENT_NAMES_OF_PODS, 'validateContainerAdjustment' as const];
/** The NRI events of `lifeOfPod`, in order. */
const LIFE = [
  ...['runPodSandbox', 'createContainer', 'validateContainerAdjustment', 'postCreateContainer'],
  ...['startContainer', 'postStartContainer', 'updateContainer', 'postUpdateContainer'],
  ...['updatePodSandbox', 'postUpdatePodSandbox', 'stopContainer', 'removeContainer'],
  ...['stopPodSandbox', 'removePodSandbox'],
];

type Ids = { podSandboxId: string; containerId: string };

async function startPod({ cri }: KillableRuntime, name: string): Promise<Ids> {
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(place, name) });
  const config = containerOf(runtime.image, 'main', 'exec sleep 1000');
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  return { podSandboxId, containerId };
}

/** Makes a kubelet's calls for one pod, from creation to removal. */
async function lifeOfPod(runtimeOfPod: KillableRuntime): Promise<void> {
  const { cri } = runtimeOfPod;
  const { podSandboxId, containerId } = await startPod(runtimeOfPod, 'victim');
  await cri.runtime.updateContainerResources({ containerId, linux: { memoryLimitInBytes: 64n << 20n } });
  await cri.runtime.updatePodSandboxResources({ podSandboxId });
  await cri.runtime.stopContainer({ containerId, timeout: 0n });
  await cri.runtime.removeContainer({ containerId });
  await cri.runtime.removePodSandbox({ podSandboxId });
}

/**
 * Connects a plugin. All plugins in this file have the same name, so that a later one stands for the same plugin after a reconnect.
 * Resolves when it has started handling Synchronize.
 */
async function connectPlugin(handlers: PluginHandlers): Promise<RunningPlugin> {
  const ready = Promise.withResolvers<void>();
  const synchronize: PluginHandlers['synchronize'] = (pods, containers) => {
    ready.resolve();
    return handlers.synchronize?.(pods, containers) ?? [];
  };
  const options = { name: 'killed', index: '10', socket: nri.socketPath };
  const plugin = await runPlugin({ ...options, handlers: { ...handlers, synchronize } });
  await ready.promise;
  return plugin;
}

/** What a plugin receives when it reconnects, in order. */
type Received = { pods: string[]; containers: string[]; events: string[] };

/** Reconnects the plugin and records what it receives. */
async function connectAgain(): Promise<Received & { plugin: RunningPlugin }> {
  const received: Received = { pods: [], containers: [], events: [] };
  const handlers: PluginHandlers = Object.fromEntries(
    EVENTS.map((event) => [event, () => void received.events.push(event)]),
  );
  handlers.synchronize = (pods, containers) => {
    received.pods.push(...pods.map(({ id }) => id));
    received.containers.push(...containers.map(({ id }) => id));
    return [];
  };
  return Object.assign(received, { plugin: await connectPlugin(handlers) });
}

/** Asserts that a plugin was synchronized with exactly the pods in the CRI and the containers that have not exited. */
async function assertSynchronized({ cri }: KillableRuntime, { pods, containers }: Received): Promise<void> {
  const { items } = await cri.runtime.listPodSandbox({});
  const listed = (await cri.runtime.listContainers({})).containers;
  const alive = listed.filter(({ state }) => state !== ContainerState.CONTAINER_EXITED);
  assert.deepEqual(pods.toSorted(), items.map(({ id }) => id).toSorted());
  assert.deepEqual(containers.toSorted(), alive.map(({ id }) => id).toSorted());
}

async function removePods({ cri }: KillableRuntime): Promise<void> {
  const { items } = await cri.runtime.listPodSandbox({});
  for (const { id } of items) await cri.runtime.removePodSandbox({ podSandboxId: id });
}

for (const event of EVENTS) {
  test(`killed while a plugin handles ${event}, a retry succeeds, the plugin misses nothing, and nothing is left`, async () => {
    const killed = Promise.withResolvers<void>();
    const kill = async () => {
      await daemon.kill();
      killed.resolve();
      return undefined;
    };
    const killer = await connectPlugin({ [event]: kill });
    const life = lifeOfPod(daemon).catch(() => undefined); // a call may be answered before the kill
    await killed.promise;
    await life;
    await killer.closed;
    daemon = await startKillable(place);
    const again = await connectAgain();
    await assertSynchronized(daemon, again);
    await removePods(daemon);
    again.events.length = 0;
    await lifeOfPod(daemon);
    assert.deepEqual(again.events, LIFE, 'the plugin receives each event of the retry once');
    again.plugin.close();
    await again.plugin.closed;
    assert.deepEqual(await runtime.remains(), []);
  });
}

test('if the runtime is killed while a plugin handles Synchronize, pods keep running, and the plugin receives each of them once', async () => {
  const ids = await startPod(daemon, 'kept');
  const killed = Promise.withResolvers<void>();
  const killer = await connectPlugin({
    synchronize: async () => {
      await daemon.kill();
      killed.resolve();
      return [];
    },
    startContainer: () => undefined,
  });
  await killed.promise;
  await killer.closed;
  daemon = await startKillable(place);
  const again = await connectAgain();
  assert.deepEqual([again.pods, again.containers], [[ids.podSandboxId], [ids.containerId]]);
  const { status } = await daemon.cri.runtime.containerStatus({ containerId: ids.containerId });
  assert.equal(status?.state, ContainerState.CONTAINER_RUNNING);
  await daemon.cri.runtime.removePodSandbox({ podSandboxId: ids.podSandboxId });
  assert.deepEqual(again.events, ['stopContainer', 'stopPodSandbox', 'removeContainer', 'removePodSandbox']);
  again.plugin.close();
  await again.plugin.closed;
  assert.deepEqual(await runtime.remains(), []);
});
