import {
  type CpuPolicyOptions,
  NO_CPU_OPTIONS,
  NO_TOPOLOGY_OPTIONS,
  type TopologyPolicy,
  type TopologyPolicyOptions,
} from '@podwright/placement';

/** Policies for assigning exclusive CPUs and NUMA-local memory to containers. */
export type PlacementOptions = {
  cpu: {
    policy: 'none' | 'static';
    options: CpuPolicyOptions;
    /** How often the cpusets of running containers are reconciled, in milliseconds (`cpuManagerReconcilePeriod`). */
    reconcilePeriodMs: number;
    /**
     * CPUs that are never assigned exclusively (`reservedSystemCPUs`). If empty, the CPU manager picks as many CPUs as the CPU reservation
     * requires.
     */
    reserved: number[];
  };
  memory: {
    policy: 'None' | 'Static';
    /** Reserved memory per NUMA node, in bytes by resource name (`reservedMemory`). */
    reserved: { node: number; limits: Record<string, bigint> }[];
  };
  topology: { policy: 'none' | TopologyPolicy; scope: 'container' | 'pod'; options: TopologyPolicyOptions };
};

/** Upstream's default placement options: no exclusive CPUs or memory. */
export const NO_PLACEMENT: PlacementOptions = {
  cpu: { policy: 'none', options: NO_CPU_OPTIONS, reconcilePeriodMs: 10_000, reserved: [] },
  memory: { policy: 'None', reserved: [] },
  topology: { policy: 'none', scope: 'container', options: NO_TOPOLOGY_OPTIONS },
};
