import { errorMessage, PodwrightError, type Undo } from '@podwright/base';
import type { CriClient } from '@podwright/cri';
import type { CgroupHierarchy } from '@podwright/host';
import { type EventRecorder, nodeSubject, type Pod } from '@podwright/kube-api';
import { runtimeCgroupDriver } from '../cgroups/host-cgroups.ts';
import { openPodCgroups } from '../cgroups/open-pod-cgroups.ts';
import type { PodCgroups } from '../cgroups/pod-cgroups.ts';
import { limitReservedCgroup, type ReservedCgroupsHost, reservedLimits } from '../cgroups/reserved-cgroups.ts';
import type { ContainerHost } from '../node/container-host.ts';
import type { NodeAmounts } from '../node/node-allocatable.ts';
import type { NodeResources } from '../node/node-resources.ts';
import type { KubeletOptions } from '../options.ts';

export type NodeCgroupsInput = {
  options: KubeletOptions;
  cri: CriClient;
  events: EventRecorder;
  hierarchy: CgroupHierarchy | undefined;
  host: ContainerHost;
  /** Limits for all pods together: `allocatable` covers memory and PIDs only, `resources` covers all resources. */
  allocatable: NodeAmounts;
  resources: NodeResources;
  /** Whether the pod has exclusive CPUs, in which case its CPU quota does not apply. */
  hasOwnCpus: (pod: Pod) => boolean;
};

/**
 * Prepares the pods' cgroups and applies limits to the host's reserved cgroups, emitting upstream's events. Rejects with
 * `failed_precondition` if a reserved cgroup cannot be limited.
 */
export async function openNodeCgroups(input: NodeCgroupsInput, undo: Undo): Promise<PodCgroups> {
  const { options, cri, events, hierarchy, host, allocatable, resources } = input;
  const { cgroupRoot: root, cgroupDriver, podPidsLimit, logger, metrics } = options;
  const fallback = options.cgroupDriverFallback;
  const driver = cgroupDriver === 'auto' ? await runtimeCgroupDriver(cri, { fallback, metrics }) : cgroupDriver;
  const node = nodeSubject(options.nodeName);
  const name = [...root.split('/').filter((part) => part !== ''), 'kubepods'].map((part) => JSON.stringify(part));
  const onLimited = (failure: string | undefined) => {
    const message = `Failed to update Node Allocatable Limits [${name.join(' ')}]: ${failure}`;
    if (failure === undefined)
      events.event(node, 'Normal', 'NodeAllocatableEnforced', 'Updated Node Allocatable limit across pods');
    else events.event(node, 'Warning', 'FailedNodeAllocatableEnforcement', message);
  };
  const settings = {
    limits: {
      pidsPerPod: podPidsLimit > 0 ? podPidsLimit : undefined,
      allPods: options.enforceNodeAllocatable ? allocatable : undefined,
    },
    milliCpu: resources.cpu ?? 0n,
    policy: options.containerResources,
    hugePageSizes: host.hugePageSizes,
    onLimited,
    hasOwnCpus: input.hasOwnCpus,
  };
  const cgroups = await openPodCgroups({ root, driver, hierarchy, settings, logger, metrics });
  undo.add('close the cgroups of pods', () => cgroups.close());
  await limitReserved(input, { hierarchy, driver });
  return cgroups;
}

async function limitReserved({ options, events }: NodeCgroupsInput, host: ReservedCgroupsHost): Promise<void> {
  const node = nodeSubject(options.nodeName);
  for (const reserved of options.reservedCgroups) {
    const { owner, cgroup, compressibleOnly } = reserved;
    try {
      const limits = reservedLimits(reserved, options.containerResources.memoryQos !== undefined);
      await limitReservedCgroup(host, cgroup, limits);
    } catch (error) {
      const what = `${owner} Reserved ${compressibleOnly ? 'Compressible ' : ''}Cgroup Limits`;
      const message = `Failed to enforce ${what} on ${JSON.stringify(cgroup)}: ${errorMessage(error)}`;
      events.event(node, 'Warning', 'FailedNodeAllocatableEnforcement', message);
      throw new PodwrightError('failed_precondition', message, { cause: error });
    }
    const message = `Updated limits on ${owner.toLowerCase()} reserved cgroup ${cgroup}`;
    events.event(node, 'Normal', 'NodeAllocatableEnforced', message);
  }
}
