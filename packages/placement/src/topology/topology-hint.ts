import type { Container, Pod } from '@podwright/kube-api';
import type { NodeMask } from './node-mask.ts';

/** A set of suitable NUMA nodes; `nodes` is `undefined` if any NUMA nodes are suitable. */
export type TopologyHint = { nodes: NodeMask | undefined; preferred: boolean };

/** Hints by resource: `undefined` if any NUMA nodes are suitable, an empty list if none are. */
export type ResourceHints = Record<string, TopologyHint[] | undefined>;

/** The hint used if there is no topology policy. */
export const NO_HINT: TopologyHint = { nodes: undefined, preferred: false };

/**
 * Allocates exclusive resources to containers. For a container that already has resources, the hints are the NUMA nodes of those resources.
 * The provider allocates nothing else between computing a container's hints and allocating its resources.
 */
export type HintProvider = {
  containerHints(pod: Pod, container: Container): ResourceHints;
  podHints(pod: Pod): ResourceHints;
  /**
   * Returns the resources that the pod requests from another program. Must be defined if `allocate` calls another program. Such a provider
   * is called after the others, and delays only pods that request the same resources.
   */
  sharedBy?(pod: Pod): string[];
  /**
   * Allocates the container's resources. Must be called for init containers first, in order. Repeated calls change nothing. Rejects if the
   * allocation fails.
   */
  allocate(request: AllocationRequest, signal: AbortSignal): Promise<void>;
  /** Frees the pod's resources once the pod has terminated or was rejected. */
  release(podUid: string): Promise<void>;
};

export type AllocationRequest = { pod: Pod; container: Container; hint: TopologyHint };

/** Rejects a pod with a reason other than `UnexpectedAdmissionError`. */
export class AdmissionError extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}
