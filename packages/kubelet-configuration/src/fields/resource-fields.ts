import { field, only, onlyEmpty, sets } from './field.ts';
import {
  bool,
  choice,
  duration,
  float,
  int64,
  memoryReservations,
  string,
  stringList,
  stringTable,
} from './field-types.ts';

/** Fields about cgroups, reservations and resource managers. */
export const RESOURCE_FIELDS = {
  cgroupRoot: field(string, '', {
    flag: 'cgroup-root',
    about: 'parent cgroup of all pods',
    key: 'cgroup_parent',
    effect: sets('cgroupRoot'),
  }),
  cgroupsPerQOS: field(bool, true, {
    flag: 'cgroups-per-qos',
    about: 'create cgroups for QoS classes and pods',
    effect: sets('cgroupRoot'),
  }),
  cgroupDriver: field(choice('cgroupfs', 'systemd'), 'cgroupfs', {
    flag: 'cgroup-driver',
    about: 'cgroup driver, used if the runtime does not report one',
    key: 'runtime.cgroup_driver',
    effect: sets('cgroupDriverFallback'),
  }),
  kubeletCgroups: field(string, '', {
    flag: 'kubelet-cgroups',
    about: 'cgroup to move the kubelet to',
    effect: only([''], 'the kubelet stays in the cgroup in which it was started'),
  }),
  systemCgroups: field(string, '', {
    flag: 'system-cgroups',
    about: 'cgroup for all processes that are in no other cgroup',
    effect: only([''], 'processes of the host are not moved'),
  }),
  systemReserved: field(
    stringTable,
    {},
    {
      flag: 'system-reserved',
      about: 'resources reserved for the host: cpu, memory, pid, ephemeral-storage',
      key: 'kubelet.system_reserved',
      effect: sets('systemReserved'),
    },
  ),
  kubeReserved: field(
    stringTable,
    {},
    {
      flag: 'kube-reserved',
      about: 'resources reserved for the kubelet and the runtime: cpu, memory, pid, ephemeral-storage',
      effect: sets('systemReserved'),
    },
  ),
  systemReservedCgroup: field(string, '', {
    flag: 'system-reserved-cgroup',
    about: 'cgroup whose limits are set to systemReserved',
    effect: sets('reservedCgroups'),
  }),
  kubeReservedCgroup: field(string, '', {
    flag: 'kube-reserved-cgroup',
    about: 'cgroup whose limits are set to kubeReserved',
    effect: sets('reservedCgroups'),
  }),
  enforceNodeAllocatable: field(stringList, ['pods'], {
    flag: 'enforce-node-allocatable',
    about:
      'which limits are enforced: pods, system-reserved, kube-reserved, system-reserved-compressible, kube-reserved-compressible, or none',
    key: 'kubelet.enforce_node_allocatable',
    effect: sets('enforceNodeAllocatable'),
  }),
  reservedSystemCPUs: field(string, '', {
    flag: 'reserved-cpus',
    about: 'CPUs reserved for the host and the kubelet; replaces their cpu amounts',
    effect: sets('placement'),
  }),
  podPidsLimit: field(int64, -1, {
    flag: 'pod-max-pids',
    about: 'maximum number of processes and threads of a pod, -1 for no limit',
    key: 'kubelet.pod_pids_limit',
    effect: sets('podPidsLimit'),
    keepsZero: true,
  }),
  cpuCFSQuota: field(bool, true, {
    flag: 'cpu-cfs-quota',
    about: 'enforce CPU limits by CFS quota',
    effect: sets('containerResources'),
  }),
  cpuCFSQuotaPeriod: field(duration, 100, {
    flag: 'cpu-cfs-quota-period',
    about: 'CFS period of CPU limits',
    effect: sets('containerResources'),
    keepsZero: true,
  }),
  cpuManagerPolicy: field(choice('none', 'static'), 'none', {
    flag: 'cpu-manager-policy',
    about: 'CPU manager policy; static gives exclusive CPUs to Guaranteed pods',
    effect: sets('placement'),
  }),
  cpuManagerPolicyOptions: field(
    stringTable,
    {},
    { flag: 'cpu-manager-policy-options', about: 'options of the CPU manager policy', effect: sets('placement') },
  ),
  cpuManagerReconcilePeriod: field(duration, 10_000, {
    flag: 'cpu-manager-reconcile-period',
    about: 'interval at which the CPU sets of containers are reconciled',
    effect: sets('placement'),
  }),
  memoryManagerPolicy: field(choice('None', 'Static'), 'None', {
    flag: 'memory-manager-policy',
    about: 'memory manager policy; Static assigns NUMA nodes to Guaranteed pods',
    effect: sets('placement'),
  }),
  reservedMemory: field(memoryReservations, [], {
    flag: 'reserved-memory',
    about: 'memory and huge pages reserved on each NUMA node',
    effect: sets('placement'),
  }),
  topologyManagerPolicy: field(choice('none', 'best-effort', 'restricted', 'single-numa-node'), 'none', {
    flag: 'topology-manager-policy',
    about: 'how CPUs, memory and devices are aligned to NUMA nodes',
    effect: sets('placement'),
  }),
  topologyManagerScope: field(choice('container', 'pod'), 'container', {
    flag: 'topology-manager-scope',
    about: 'whether resources are aligned for each container or for the whole pod',
    effect: sets('placement'),
  }),
  topologyManagerPolicyOptions: field(
    stringTable,
    {},
    {
      flag: 'topology-manager-policy-options',
      about: 'options of the topology manager policy',
      effect: sets('placement'),
    },
  ),
  qosReserved: field(
    stringTable,
    {},
    {
      flag: 'qos-reserved',
      about: 'percentage of requests that is reserved from lower QoS classes',
      effect: onlyEmpty('requests are not reserved from lower QoS classes'),
    },
  ),
  'memorySwap.swapBehavior': field(choice('NoSwap', 'LimitedSwap'), '', {
    about: 'whether pods may use swap; NoSwap if unset',
    effect: sets('containerResources'),
  }),
  memoryThrottlingFactor: field(float, 0.9, {
    about: 'fraction of a memory limit at which containers are throttled, with the feature gate MemoryQoS',
    effect: sets('containerResources'),
    keepsZero: true,
  }),
  memoryReservationPolicy: field(choice('None', 'TieredReservation'), 'None', {
    about: "whether the kernel protects containers' memory requests, with the feature gate MemoryQoS",
    effect: sets('containerResources'),
  }),
  singleProcessOOMKill: field(bool, undefined, {
    about:
      'kill a single process of a container that is out of memory, instead of all; the default is false on cgroup v2, and only true is valid on v1',
    effect: sets('containerResources'),
  }),
};
