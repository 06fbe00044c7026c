import { create, HugepageLimitSchema, type LinuxContainerResources } from '@podwright/cri';
import {
  allContainers,
  type Container,
  containersAmount,
  hasPodLevelResources,
  inUnits,
  isHugePages,
  isNodeCriticalPod,
  type Pod,
  type PodSpec,
  podLevelAmount,
  qosClass,
  quantityValue,
  sidecarsOf,
  withPodLimits,
} from '@podwright/kube-api';
import { hugePageSize } from '../cgroups/huge-pages.ts';
import { linuxResources } from '../cgroups/linux-resources.ts';
import { limitOf, requestOf } from '../cgroups/qos.ts';
import type { ContainerHost } from '../node/container-host.ts';
import type { ContainerEnforcement } from './container-enforcement.ts';
import { memoryQosFiles } from './memory-qos.ts';
import { swapResources } from './swap.ts';

/** The oom_score_adj of containers that the OOM killer should kill last. */
const GUARANTEED_OOM_SCORE_ADJ = -997n;

/**
 * Returns the container's cgroup limits and oom_score_adj, computed like upstream. Limits that the container does not set default to the
 * pod-level limits.
 */
export function containerResources(
  pod: Pod,
  container: Container,
  node: ContainerEnforcement,
): LinuxContainerResources {
  const limited = withPodLimits(container, pod.spec);
  const memoryLimitBytes = limitOf(limited, 'memory');
  const resources = linuxResources(
    { milliCpuRequest: requestOf(limited, 'cpu'), milliCpuLimit: limitOf(limited, 'cpu'), memoryLimitBytes },
    node,
  );
  const swap = swapResources(pod, container, { ...node, memoryLimitBytes });
  return {
    ...resources,
    oomScoreAdj: allowedOomScoreAdj(oomScoreAdj(pod, container, node.host.memoryCapacity), node.host),
    hugepageLimits: hugepageLimits(pod.spec, container, node.host.hugePageSizes),
    memorySwapLimitInBytes: swap.memoryAndSwapBytes,
    unified: { ...resources.unified, ...swap.files, ...memoryQosFiles(pod, container, node) },
  };
}

/** Raises the score to the lowest value that this process is allowed to set. A lower one would prevent every container from starting. */
function allowedOomScoreAdj(score: bigint, { leastOomScoreAdj: least }: ContainerHost): bigint {
  return least !== undefined && score < least ? least : score;
}

/**
 * Returns -997 for guaranteed and node-critical pods, 1000 for best-effort pods, and a value in between for burstable ones: the more memory
 * a container requests, the later it is killed. A sidecar is killed no earlier than the first ordinary container.
 */
export function oomScoreAdj(pod: Pod, container: Container, memoryCapacity: bigint): bigint {
  if (isNodeCriticalPod(pod)) return GUARANTEED_OOM_SCORE_ADJ;
  const qos = qosClass(pod);
  if (qos === 'Guaranteed') return GUARANTEED_OOM_SCORE_ADJ;
  if (qos === 'BestEffort') return 1000n;
  const counted = killedNoSoonerThan(pod, container) ?? requestOf(container, 'memory');
  return burstableScore(counted + unclaimedShare(pod.spec), memoryCapacity);
}

/** For a sidecar, returns the smallest memory request of the ordinary containers, if all of them exceed the sidecar's own request. */
function killedNoSoonerThan(pod: Pod, container: Container): bigint | undefined {
  if (!sidecarsOf(pod).some(({ name }) => name === container.name)) return undefined;
  const served = pod.spec.containers.map((other) => requestOf(other, 'memory'));
  const own = requestOf(container, 'memory');
  return served.every((other) => other > own) ? served.toSorted((a, b) => Number(a - b))[0] : undefined;
}

function burstableScore(requestBytes: bigint, memoryCapacity: bigint): bigint {
  const score = 1000n - (1000n * requestBytes) / memoryCapacity;
  const floor = 1000n + GUARANTEED_OOM_SCORE_ADJ;
  return score < floor ? floor : score >= 1000n ? 999n : score;
}

/**
 * Returns a container's share of the pod-level memory request: the part not covered by the containers' own requests is divided equally
 * (KEP-2837).
 */
function unclaimedShare(spec: PodSpec): bigint {
  const request = podLevelAmount(spec, 'requests', 'memory') ?? 0n;
  if (request === 0n) return 0n;
  const unclaimed = inUnits(request, 'memory') - inUnits(containersAmount(spec, 'requests', 'memory'), 'memory');
  return unclaimed / BigInt(allContainers(spec).length);
}

/** Returns a limit for each of the host's huge page sizes; 0 for sizes that neither the container nor the pod limits. */
function hugepageLimits(spec: PodSpec, container: Container, sizes: string[]) {
  const limits = { ...(hasPodLevelResources(spec) ? spec.resources?.limits : {}), ...container.resources?.limits };
  const limitBySize = new Map(
    Object.entries(limits)
      .filter(([name]) => isHugePages(name))
      .map(([name, limit]) => [hugePageSize(name), quantityValue(limit)]),
  );
  return sizes.map((size) => create(HugepageLimitSchema, { pageSize: size, limit: limitBySize.get(size) ?? 0n }));
}
