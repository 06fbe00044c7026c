import { create, HugepageLimitSchema, type LinuxContainerResources } from '@podwright/cri';
import { isNodeCriticalPod } from '../api/pod-priority.ts';
import { parseQuantity, quantityValue } from '../api/quantity.ts';
import { type Container, type Pod, sidecarsOf } from '../api/types.ts';
import { linuxResources } from '../cgroups/linux-resources.ts';
import { limitOf, qosClass, requestOf } from '../cgroups/qos.ts';
import type { ContainerHost } from '../node/container-host.ts';
import { memoryQosFiles } from './memory-qos.ts';
import type { NodeResources } from './node-resources.ts';
import { swapResources } from './swap.ts';

/** oom_score_adj of containers that should be killed last. */
const GUARANTEED_OOM_SCORE_ADJ = -997n;

/** The container's cgroup limits and OOM score, computed as upstream does. */
export function containerResources(pod: Pod, container: Container, node: NodeResources): LinuxContainerResources {
  const resources = linuxResources(
    {
      milliCpuRequest: requestOf(container, 'cpu'),
      milliCpuLimit: limitOf(container, 'cpu'),
      memoryLimitBytes: limitOf(container, 'memory'),
    },
    node,
  );
  const swap = swapResources(pod, container, node);
  return {
    ...resources,
    oomScoreAdj: allowedOomScoreAdj(oomScoreAdj(pod, container, node.host.memoryCapacity), node.host),
    hugepageLimits: hugepageLimits(container, node.host.hugePageSizes),
    memorySwapLimitInBytes: swap.memoryAndSwapBytes,
    unified: { ...resources.unified, ...swap.files, ...memoryQosFiles(pod, container, node) },
  };
}

/** Where the kernel forbids to lower the score, the lowest that it allows: with another one no container would start. */
function allowedOomScoreAdj(wanted: bigint, { leastOomScoreAdj: least }: ContainerHost): bigint {
  return least !== undefined && wanted < least ? least : wanted;
}

/**
 * -997 for guaranteed and node-critical pods, 1000 for best-effort ones, and between for the rest: the more memory a
 * container asked for, the later it is killed. A sidecar is killed no sooner than any container it serves.
 */
export function oomScoreAdj(pod: Pod, container: Container, memoryCapacity: bigint): bigint {
  if (isNodeCriticalPod(pod)) return GUARANTEED_OOM_SCORE_ADJ;
  const qos = qosClass(pod);
  if (qos === 'Guaranteed') return GUARANTEED_OOM_SCORE_ADJ;
  if (qos === 'BestEffort') return 1000n;
  const own = burstableScore(container, memoryCapacity);
  if (!sidecarsOf(pod).some(({ name }) => name === container.name)) return own;
  const scores = pod.spec.containers.map((other) => burstableScore(other, memoryCapacity));
  return scores.every((score) => own <= score) ? own : scores.toSorted((a, b) => Number(a - b))[0]!;
}

function burstableScore(container: Container, memoryCapacity: bigint): bigint {
  const score = 1000n - (1000n * requestOf(container, 'memory')) / memoryCapacity;
  const floor = 1000n + GUARANTEED_OOM_SCORE_ADJ;
  return score < floor ? floor : score >= 1000n ? 999n : score;
}

/** A limit for each size of huge pages that the host has: none of those that the container does not ask for. */
function hugepageLimits(container: Container, sizes: string[]) {
  const wanted = new Map(
    Object.entries(container.resources?.limits ?? {})
      .filter(([name]) => name.startsWith('hugepages-'))
      .map(([name, limit]) => [pageSize(name.slice('hugepages-'.length)), quantityValue(limit)]),
  );
  return sizes.map((size) => create(HugepageLimitSchema, { pageSize: size, limit: wanted.get(size) ?? 0n }));
}

/** `2Mi` and `2048Ki` as the files of cgroups name that size, `2MB`. */
function pageSize(quantity: string): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
  let size = parseQuantity(quantity).nanos / 1_000_000_000n;
  let unit = 0;
  while (size > 0n && size % 1024n === 0n && unit < units.length - 1) {
    size /= 1024n;
    unit++;
  }
  return `${size}${units[unit]}`;
}
