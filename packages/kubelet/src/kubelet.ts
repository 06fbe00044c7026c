/** Puts the kubelet together and starts it. */
import { type CgroupHierarchy, discoverCgroups, errorMessage, isUnimplemented } from '@podwright/base';
import { CgroupDriver, type CriClient, connectCri } from '@podwright/cri';
import type { Pod } from './api/types.ts';
import { type NodeAmounts, nodeAllocatable } from './cgroups/node-allocatable.ts';
import { readNodeCapacity } from './cgroups/node-capacity.ts';
import { openPodCgroups } from './cgroups/pod-cgroups.ts';
import { PodEvents } from './events/event-recorder.ts';
import { enforceEmptyDirLimits } from './gc/empty-dir-limits.ts';
import { KubeletHandle } from './handle.ts';
import { hostAddresses } from './host.ts';
import { keepHouse } from './housekeeping.ts';
import type { WaitingReason } from './kuberuntime/sync-result.ts';
import type { KubeletOptions } from './options.ts';
import type { EnforcedLimits, PodCgroups } from './pod/contract.ts';
import { createPodEngine, type PodEngine } from './pod-engine.ts';
import type { KubeletRooms, RoomsInput } from './rooms.ts';

/** Makes the rooms that the sync loop knows by contract only. */
export type RoomsFactory = (input: RoomsInput) => KubeletRooms;

/**
 * Connects to the runtime and runs its pods until the handle is closed. Containers that run already are picked up.
 * Rejects with `unavailable` or `unimplemented` if there is no CRI runtime at the endpoint.
 */
export async function startKubeletWith(options: KubeletOptions, makeRooms: RoomsFactory): Promise<KubeletHandle> {
  const { logger } = options;
  const cri = await connectCri({
    runtimeEndpoint: options.runtimeEndpoint,
    imageEndpoint: options.imageEndpoint,
    apiVersion: options.criApiVersion,
    metrics: options.metrics,
    logger,
  });
  try {
    return await assembleKubelet(options, cri, makeRooms);
  } catch (error) {
    cri.close();
    throw error;
  }
}

/** Runs pods over a client that is connected already; the handle closes it. */
export async function assembleKubelet(
  options: KubeletOptions,
  cri: CriClient,
  makeRooms: RoomsFactory,
): Promise<KubeletHandle> {
  const [version, addresses, driver, hierarchy] = await Promise.all([
    cri.runtime.version({}),
    hostAddresses(options.nodeIp),
    cgroupDriver(options, cri),
    hostCgroups(),
  ]);
  const allocatable = nodeAllocatable(await readNodeCapacity(hierarchy), options.systemReserved);
  const { cgroupRoot: root, logger } = options;
  const cgroups = await openPodCgroups({ root, driver, hierarchy, limits: limitsOf(options, allocatable), logger });
  const events = new PodEvents(options.nodeName);
  const hostIps = () => addresses;
  const rooms = makeRooms({ options, cri, events, hostIps, allocatable });
  const { runtimeName } = version;
  const cgroupV2 = hierarchy?.mode === 'v2';
  const engine = createPodEngine({ options, cri, events, rooms, cgroups, cgroupV2, hostIps, runtimeName });
  await engine.pleg.start();
  const { ready, close } = run({ options, cri, events, rooms, cgroups, engine });
  const runtime = { name: version.runtimeName, version: version.runtimeVersion };
  return new KubeletHandle({
    ...engine,
    options,
    cri,
    events,
    cgroups,
    objects: rooms.objects,
    version: runtime,
    ready,
    close,
  });
}

type Running = {
  options: KubeletOptions;
  cri: CriClient;
  events: PodEvents;
  rooms: KubeletRooms;
  cgroups: PodCgroups;
  engine: PodEngine;
};

/** Connects everything that can happen with the sync loop, and keeps house. */
function run({ options, cri, events, rooms, cgroups, engine }: Running): {
  ready: Promise<void>;
  close: () => Promise<void>;
} {
  const { loop, cache, manager, workers, pleg } = engine;
  const { logger } = options;
  const controller = new AbortController();
  const results = [rooms.probes.liveness, rooms.probes.readiness, rooms.probes.startup];
  const unsubscribe = [
    rooms.objects.onChange((change) => loop.handleObject(change)),
    ...results.map((result) => result.onChange((update) => loop.handleProbe(update))),
  ];
  const sources = rooms.startSources((update) => loop.handlePods(update));
  const runtimePods = () => cache.list();
  const ready = sources.ready.then(async () => {
    const wanted = manager.list().map(({ metadata }) => metadata.uid);
    const known = new Set([...wanted, ...runtimePods().map(({ pod }) => pod.uid)]);
    loop.endOrphans();
    await rooms.volumes.removeOrphans(known);
    await cgroups.removeOrphans(known);
  });
  const endOrphans = () => loop.endOrphans();
  const limits = {
    volumes: rooms.volumes,
    events,
    logger,
    evict: (pod: Pod, verdict: WaitingReason) => loop.evict(pod, verdict),
  };
  const enforceVolumeLimits = () => enforceEmptyDirLimits(limits, workers.activePods());
  const chores = { cri, options, runtimePods, endOrphans, enforceVolumeLimits, logger };
  const house = ready.then(() => keepHouse(chores, controller.signal));
  house.catch((error: unknown) => logger.error({ error: errorMessage(error) }, 'housekeeping ended early'));
  const close = async () => {
    controller.abort();
    for (const stop of unsubscribe) stop();
    await sources.stop();
    await workers.stop();
    await pleg.stop();
    rooms.probes.stop();
    await house.catch(() => undefined);
    await rooms.volumes.close();
    cri.close();
  };
  return { ready, close };
}

/** Without any cgroups containers have no limits, whatever is asked for. */
async function hostCgroups(): Promise<CgroupHierarchy | undefined> {
  return await discoverCgroups().catch(() => undefined);
}

function limitsOf(options: KubeletOptions, allocatable: NodeAmounts): EnforcedLimits {
  return {
    pidsPerPod: options.podPidsLimit > 0 ? options.podPidsLimit : undefined,
    allPods: options.enforceNodeAllocatable ? allocatable : undefined,
  };
}

/** Asks the runtime which driver its cgroups have; one that cannot say is taken for cgroupfs. */
async function cgroupDriver(options: KubeletOptions, cri: CriClient): Promise<'cgroupfs' | 'systemd'> {
  if (options.cgroupDriver !== 'auto') return options.cgroupDriver;
  try {
    const { linux } = await cri.runtime.runtimeConfig({});
    return linux?.cgroupDriver === CgroupDriver.SYSTEMD ? 'systemd' : 'cgroupfs';
  } catch (error) {
    if (isUnimplemented(error)) return 'cgroupfs';
    throw error;
  }
}
