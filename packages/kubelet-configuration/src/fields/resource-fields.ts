import { field, nothing, only, onlyEmpty, sets } from './field.ts';
import {
  bool,
  choice,
  duration,
  float,
  int32,
  int64,
  memoryReservations,
  string,
  stringList,
  stringTable,
  thresholds,
} from './field-types.ts';

/** Fields about cgroups, reserves and eviction. */
export const RESOURCE_FIELDS = {
  cgroupRoot: field(string, '', { flag: 'cgroup-root', about: 'cgroup above all pods', effect: sets('cgroupRoot') }),
  cgroupsPerQOS: field(bool, true, {
    flag: 'cgroups-per-qos',
    about: 'make cgroups of QoS classes and pods',
    effect: sets('cgroupRoot'),
  }),
  cgroupDriver: field(choice('cgroupfs', 'systemd'), 'cgroupfs', {
    flag: 'cgroup-driver',
    about: 'for a runtime that does not say: cgroupfs or systemd',
    effect: sets('cgroupDriverFallback'),
  }),
  kubeletCgroups: field(string, '', {
    flag: 'kubelet-cgroups',
    about: 'cgroup that the kubelet moves to',
    effect: only([''], 'whoever starts the kubelet chooses its cgroup'),
  }),
  systemCgroups: field(string, '', {
    flag: 'system-cgroups',
    about: 'cgroup for all other processes',
    effect: only([''], 'processes of the host are not moved'),
  }),
  systemReserved: field(
    stringTable,
    {},
    {
      flag: 'system-reserved',
      about: 'kept back for the host: cpu, memory, pid, ephemeral-storage',
      effect: sets('systemReserved'),
    },
  ),
  kubeReserved: field(
    stringTable,
    {},
    {
      flag: 'kube-reserved',
      about: 'kept back for the kubelet and the runtime: cpu, memory, pid, ephemeral-storage',
      effect: sets('systemReserved'),
    },
  ),
  systemReservedCgroup: field(string, '', {
    flag: 'system-reserved-cgroup',
    about: 'cgroup that has system-reserved as its limit',
    effect: sets('reservedCgroups'),
  }),
  kubeReservedCgroup: field(string, '', {
    flag: 'kube-reserved-cgroup',
    about: 'cgroup that has kube-reserved as its limit',
    effect: sets('reservedCgroups'),
  }),
  enforceNodeAllocatable: field(stringList, ['pods'], {
    flag: 'enforce-node-allocatable',
    about: 'who is held to its part: pods, system-reserved or kube-reserved, these also with -compressible; or none',
    effect: sets('enforceNodeAllocatable'),
  }),
  reservedSystemCPUs: field(string, '', {
    flag: 'reserved-cpus',
    about: 'processors that are kept back',
    effect: sets('placement'),
  }),
  podPidsLimit: field(int64, -1, {
    flag: 'pod-max-pids',
    about: 'processes and threads of a pod, -1 for any number',
    effect: sets('podPidsLimit'),
    keepsZero: true,
  }),
  cpuCFSQuota: field(bool, true, {
    flag: 'cpu-cfs-quota',
    about: 'hold containers to their CPU limits',
    effect: sets('containerResources'),
  }),
  cpuCFSQuotaPeriod: field(duration, 100, {
    flag: 'cpu-cfs-quota-period',
    about: 'period of CPU limits',
    effect: sets('containerResources'),
    keepsZero: true,
  }),
  cpuManagerPolicy: field(choice('none', 'static'), 'none', {
    flag: 'cpu-manager-policy',
    about: 'none or static',
    effect: sets('placement'),
  }),
  cpuManagerPolicyOptions: field(
    stringTable,
    {},
    { flag: 'cpu-manager-policy-options', about: 'options of it', effect: sets('placement') },
  ),
  cpuManagerReconcilePeriod: field(duration, 10_000, {
    flag: 'cpu-manager-reconcile-period',
    about: 'how often it looks at containers',
    effect: sets('placement'),
  }),
  memoryManagerPolicy: field(choice('None', 'Static'), 'None', {
    flag: 'memory-manager-policy',
    about: 'None or Static',
    effect: sets('placement'),
  }),
  reservedMemory: field(memoryReservations, [], {
    flag: 'reserved-memory',
    about: 'memory of NUMA nodes that is kept back',
    effect: sets('placement'),
  }),
  topologyManagerPolicy: field(choice('none', 'best-effort', 'restricted', 'single-numa-node'), 'none', {
    flag: 'topology-manager-policy',
    about: 'none, best-effort, restricted or single-numa-node',
    effect: sets('placement'),
  }),
  topologyManagerScope: field(choice('container', 'pod'), 'container', {
    flag: 'topology-manager-scope',
    about: 'container or pod',
    effect: sets('placement'),
  }),
  topologyManagerPolicyOptions: field(
    stringTable,
    {},
    { flag: 'topology-manager-policy-options', about: 'options of it', effect: sets('placement') },
  ),
  qosReserved: field(
    stringTable,
    {},
    {
      flag: 'qos-reserved',
      about: 'share of requests that is kept from lower QoS classes',
      effect: onlyEmpty('requests of QoS classes are not kept back'),
    },
  ),
  'memorySwap.swapBehavior': field(choice('NoSwap', 'LimitedSwap'), '', {
    about: 'NoSwap or LimitedSwap',
    effect: sets('containerResources'),
  }),
  memoryThrottlingFactor: field(float, 0.9, {
    about: 'share of a memory limit from which on containers are slowed down, with the feature gate MemoryQoS',
    effect: sets('containerResources'),
    keepsZero: true,
  }),
  memoryReservationPolicy: field(choice('None', 'TieredReservation'), 'None', {
    about: 'None or TieredReservation: containers keep the memory that they ask for, with the feature gate MemoryQoS',
    effect: sets('containerResources'),
  }),
  singleProcessOOMKill: field(bool, undefined, {
    about:
      'out of memory, one process of a container is killed and not all; false is the default on cgroup v2, true the only choice on v1',
    effect: sets('containerResources'),
  }),
  evictionHard: field(thresholds, undefined, {
    flag: 'eviction-hard',
    about: 'thresholds at which pods are evicted',
    effect: sets('eviction'),
  }),
  evictionSoft: field(
    thresholds,
    {},
    {
      flag: 'eviction-soft',
      about: 'thresholds with a grace period',
      effect: sets('eviction'),
    },
  ),
  evictionSoftGracePeriod: field(
    stringTable,
    {},
    {
      flag: 'eviction-soft-grace-period',
      about: 'grace periods of these',
      effect: sets('eviction'),
    },
  ),
  evictionPressureTransitionPeriod: field(duration, 300_000, {
    flag: 'eviction-pressure-transition-period',
    about: 'how long pressure is said to last at least',
    effect: sets('eviction'),
  }),
  evictionMaxPodGracePeriod: field(int32, 0, {
    flag: 'eviction-max-pod-grace-period',
    about: 'longest grace period of evicted pods',
    effect: sets('eviction'),
  }),
  evictionMinimumReclaim: field(
    stringTable,
    {},
    {
      flag: 'eviction-minimum-reclaim',
      about: 'how much more is freed than the thresholds ask for',
      effect: sets('eviction'),
    },
  ),
  mergeDefaultEvictionSettings: field(bool, false, {
    about: 'keep the default thresholds beside those of evictionHard',
    effect: sets('eviction'),
  }),
  kernelMemcgNotification: field(bool, false, {
    flag: 'kernel-memcg-notification',
    about: 'hear of memory thresholds from the kernel',
    effect: nothing('the node is looked at every ten seconds'),
  }),
};
