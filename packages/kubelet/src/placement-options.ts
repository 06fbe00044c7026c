import {
  type CpuPolicyOptions,
  NO_CPU_OPTIONS,
  NO_TOPOLOGY_OPTIONS,
  type TopologyPolicy,
  type TopologyPolicyOptions,
} from '@podwright/placement';

/** Who gets processors and memory of NUMA nodes for itself. */
export type PlacementOptions = {
  cpu: {
    policy: 'none' | 'static';
    options: CpuPolicyOptions;
    /** How often running containers are held to the processors that they are to have. */
    reconcilePeriodMs: number;
    /** Never given to a container for itself; empty for as many as are kept back. */
    reserved: number[];
  };
  memory: {
    policy: 'None' | 'Static';
    /** Kept back of NUMA nodes: bytes by the name of the resource. */
    reserved: { node: number; limits: Record<string, bigint> }[];
  };
  topology: { policy: 'none' | TopologyPolicy; scope: 'container' | 'pod'; options: TopologyPolicyOptions };
};

/** Upstream's defaults: nobody has anything for itself. */
export const NO_PLACEMENT: PlacementOptions = {
  cpu: { policy: 'none', options: NO_CPU_OPTIONS, reconcilePeriodMs: 10_000, reserved: [] },
  memory: { policy: 'None', reserved: [] },
  topology: { policy: 'none', scope: 'container', options: NO_TOPOLOGY_OPTIONS },
};
