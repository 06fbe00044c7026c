/**
 * Services for pods that use exclusive resources: the pod resources API, and a periodic check that containers run on their assigned CPUs.
 */
import { join } from 'node:path';
import { errorMessage } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import { removeIfEmpty } from '@podwright/host';
import { allContainers, type Container, type Pod } from '@podwright/kube-api';
import { type RunningContainer, reconcileCpus, servePodResources } from '@podwright/placement';
import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { KubeletOptions } from '../options.ts';
import { allocatableResources, listedResources } from './listed-resources.ts';
import type { NodeGrants } from './node-grants.ts';
import type { PodSync } from './pod-sync.ts';

export type GrantServicesInput = {
  options: KubeletOptions;
  cri: CriClient;
  sync: Pick<PodSync, 'workers' | 'cache'>;
  grants: NodeGrants;
};

/**
 * Starts the pod resources API and the CPU check. If the API cannot be served, for example because another kubelet holds its socket, the
 * error is logged and pods run without the API.
 */
export async function startGrantServices(input: GrantServicesInput): Promise<{ close: () => Promise<void> }> {
  const { options, sync, grants } = input;
  const directory = join(options.rootDir, 'pod-resources');
  const { logger, metrics } = options;
  const activePods = () => sync.workers.activePods();
  const resourcesOf = (pod: Pod, container: Container) => listedResources(grants, pod, container);
  const claimsOf = (pod: Pod, container: Container) => grants.claimsOf(pod, container);
  const allocatable = () => allocatableResources(grants);
  const served = { directory, activePods, resourcesOf, claimsOf, allocatable, logger, metrics };
  const server = await servePodResources(served).catch((error) => {
    logger.error({ directory, error: errorMessage(error) }, 'the pod resources API is not served');
    return undefined;
  });
  const controller = new AbortController();
  const cpus = keepCpus(input, controller.signal);
  return {
    close: async () => {
      controller.abort();
      await Promise.all([server?.close(), cpus]);
      await removeIfEmpty(directory);
    },
  };
}

async function keepCpus({ options, cri, sync, grants }: GrantServicesInput, signal: AbortSignal): Promise<void> {
  const { placement, knownCpus: known } = grants;
  if (placement.cpus === undefined) return;
  const containers = () =>
    sync.workers.activePods().flatMap((pod) => runningOf(pod, sync.cache.get(pod.metadata.uid)?.status));
  const periodMs = options.placement.cpu.reconcilePeriodMs;
  const { cpus: manager } = placement;
  const setCpus = (containerId: string, cpusetCpus: string, signal: AbortSignal) =>
    cri.runtime.updateContainerResources({ containerId, linux: { cpusetCpus } }, { signal });
  await reconcileCpus({ setCpus, manager, known, containers, periodMs, logger: options.logger }, signal);
}

function runningOf(pod: Pod, status: RuntimePodStatus | undefined): RunningContainer[] {
  const names = new Set(allContainers(pod.spec).map(({ name }) => name));
  const running = status?.containers.filter(({ state, name }) => state === 'running' && names.has(name)) ?? [];
  return running.map(({ name, id }) => ({ podUid: pod.metadata.uid, name, id }));
}
