import {
  create,
  HugepageLimitSchema,
  type LinuxContainerResources,
  LinuxContainerResourcesSchema,
} from '@podwright/cri';
import { quantityValue } from '../api/quantity.ts';
import { type Container, type Pod, sidecarsOf } from '../api/types.ts';
import { CPU_PERIOD_MICROS, cpuQuota, cpuShares } from '../cgroups/cpu.ts';
import { limitOf, qosClass, requestOf } from '../cgroups/qos.ts';

/** oom_score_adj of containers that should be killed last. */
const GUARANTEED_OOM_SCORE_ADJ = -997n;
/** Priority from which a pod counts as critical for the node (`system-node-critical`). */
const NODE_CRITICAL_PRIORITY = 2_000_001_000;

/** What of the node a container's limits depend on. */
export type NodeResources = {
  /** Bytes of memory. */
  memoryCapacity: bigint;
  /** The node has cgroup v2 alone. */
  cgroupV2: boolean;
};

/**
 * The container's cgroup limits and OOM score, computed as the kubelet does. On cgroup v2 a container that is out of memory is
 * killed whole: what one of its processes leaves behind without the others is of no use.
 */
export function containerResources(
  pod: Pod,
  container: Container,
  { memoryCapacity, cgroupV2 }: NodeResources,
): LinuxContainerResources {
  const quota = cpuQuota(limitOf(container, 'cpu'));
  return create(LinuxContainerResourcesSchema, {
    cpuShares: cpuShares(requestOf(container, 'cpu')),
    cpuPeriod: quota === 0n ? 0n : CPU_PERIOD_MICROS,
    cpuQuota: quota,
    memoryLimitInBytes: limitOf(container, 'memory'),
    oomScoreAdj: oomScoreAdj(pod, container, memoryCapacity),
    hugepageLimits: hugepageLimits(container),
    unified: cgroupV2 ? { 'memory.oom.group': '1' } : {},
  });
}

/**
 * -997 for guaranteed and node-critical pods, 1000 for best-effort ones, and between for the rest: the more memory a
 * container asked for, the later it is killed. A sidecar is killed no sooner than any container it serves.
 */
export function oomScoreAdj(pod: Pod, container: Container, memoryCapacity: bigint): bigint {
  if ((pod.spec.priority ?? 0) >= NODE_CRITICAL_PRIORITY) return GUARANTEED_OOM_SCORE_ADJ;
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

function hugepageLimits(container: Container) {
  return Object.entries(container.resources?.limits ?? {})
    .filter(([name]) => name.startsWith('hugepages-'))
    .map(([name, limit]) =>
      create(HugepageLimitSchema, {
        pageSize: `${name.slice('hugepages-'.length).replace(/i$/, '')}B`,
        limit: quantityValue(limit),
      }),
    );
}
