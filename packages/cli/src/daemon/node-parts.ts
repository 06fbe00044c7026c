/** The parts of a node other than its kubelet. */
import { existsSync } from 'node:fs';
import { createLogger, Undo } from '@podwright/base';
import { discoverCgroups, removeCgroup } from '@podwright/host';
import { type RuntimeHandle, startRuntime } from '@podwright/runtime';
import type { NodeConfig } from '../settings/node-config.ts';
import { SERVICE_CLAIMS } from '../settings/service-claims.ts';
import { claimCgroupPlace, closeCgroupPlace, openCgroupPlace } from './cgroup-place.ts';
import type { KubeletPlace } from './kubelet-options.ts';
import { runtimeOptions } from './runtime-options.ts';
import type { SharedParts } from './shared-parts.ts';
import type { StandaloneApi } from './standalone-api.ts';

export type NodeParts = {
  runtime: NodeRuntime;
  /** The connection to the node's own Kubernetes API; `undefined` if the node has none. */
  standaloneApi: StandaloneApi | undefined;
};

/** Starts the container runtime and the Kubernetes API concurrently. If either fails to start, the other is closed. */
export async function startNodeParts(config: NodeConfig, shared: SharedParts): Promise<NodeParts> {
  const startRuntimeOf = config.container_runtime === 'docker' ? dockerRuntime : ownRuntime;
  const [runtime, api] = await Promise.allSettled([startRuntimeOf(config, shared), openStandaloneApi(config)]);
  if (runtime.status === 'fulfilled' && api.status === 'fulfilled')
    return { runtime: runtime.value, standaloneApi: api.value };
  if (api.status === 'fulfilled') await closeApi(api.value);
  if (runtime.status === 'rejected') throw runtime.reason;
  await closeUnused(runtime.value);
  throw (api as PromiseRejectedResult).reason;
}

/** Closes the runtime of a node that failed to start. If there are no pods, its state is removed from the host, as in a normal stop. */
export async function closeUnused(runtime: NodeRuntime): Promise<void> {
  // the caller reports why the node failed to start; an error while closing the runtime is ignored
  await Promise.allSettled([runtime.close({ removeHostState: runtime.isEmpty() })]);
}

/** Closes the Kubernetes API of a node that failed to start. */
export async function closeApi(api: StandaloneApi | undefined): Promise<void> {
  try {
    await api?.services.close({ removeHostState: true });
  } finally {
    await api?.close();
  }
}

/**
 * Stops a node's Services and runtime, and removes their state from the host if requested. If one fails, the other is still stopped.
 * Rejects with the first error.
 */
export async function closeParts(
  { runtime, standaloneApi }: NodeParts,
  options: { removeHostState: boolean },
): Promise<void> {
  const undo = new Undo();
  undo.add('close the container runtime', () => runtime.close(options));
  undo.add('close the Services', () => standaloneApi?.services.close(options));
  const [failure] = await undo.run();
  if (failure !== undefined) throw failure.error;
}

/**
 * Starts the node's Kubernetes API, whose code is loaded only if the node has one. A node without one still removes what nodes that have
 * exited left behind on the host.
 */
async function openStandaloneApi(config: NodeConfig): Promise<StandaloneApi | undefined> {
  if (!config.api.enabled) {
    if (existsSync(SERVICE_CLAIMS)) await removeLeft(config);
    return undefined;
  }
  return (await import('./standalone-api.ts')).startStandaloneApi(config);
}

async function removeLeft({ root, log_level: level }: NodeConfig): Promise<void> {
  const { removeLeftClaims } = await import('@podwright/proxy'); // loaded only on a host that has had a node with an API
  await removeLeftClaims(SERVICE_CLAIMS, root, createLogger({ name: 'services', level }));
}

/** The container runtime running in a node's process. */
type NodeRuntime = {
  place: Pick<KubeletPlace, 'runtimeEndpoint' | 'cgroupDriver' | 'cgroupRoot' | 'legacyLogs'>;
  serveStream: RuntimeHandle['serveStream'];
  /** Whether the runtime has no pods from any client, so that its host state can be removed. */
  isEmpty: () => boolean;
  close: (options: { removeHostState: boolean }) => Promise<void>;
};

async function ownRuntime(config: NodeConfig, shared: SharedParts): Promise<NodeRuntime> {
  const cgroups = await openCgroupPlace(config);
  await claimCgroupPlace(cgroups);
  const runtime = await startRuntime({ ...runtimeOptions(config), ...cgroups, ...shared });
  return {
    place: {
      runtimeEndpoint: runtime.endpoint,
      // cgroupfs, even if the runtime uses the systemd driver: this kubelet's pods are in the cgroup that systemd delegated to the runtime,
      // not in slices
      cgroupDriver: 'cgroupfs',
      cgroupRoot: cgroups.cgroupParent,
    },
    serveStream: runtime.serveStream,
    isEmpty: runtime.isEmpty,
    close: async ({ removeHostState }) => {
      await runtime.close({ removeHostState });
      if (removeHostState) await closeCgroupPlace(cgroups);
    },
  };
}

/** Starts the dockershim. The kubelet gets Docker's cgroup driver from it. */
async function dockerRuntime(config: NodeConfig, shared: SharedParts): Promise<NodeRuntime> {
  const { startNodeDockershim } = await import('./docker-runtime.ts'); // loaded only if needed
  const { place, serveStream, close } = await startNodeDockershim(config, shared);
  return {
    place,
    serveStream,
    isEmpty: () => false, // the Docker Engine may have containers of other programs
    close: async ({ removeHostState }) => {
      await close();
      // with Docker's systemd driver, pods are in slices, so the cgroup does not exist and nothing is removed
      if (removeHostState) await removeCgroup(await discoverCgroups(), config.cgroup_parent);
    },
  };
}
