import type { Container, Pod } from '@podwright/kube-api';
import type { NodeMask } from './node-mask.ts';

/** A set of suitable NUMA nodes; `undefined` if any nodes are suitable. */
export type TopologyHint = { nodes: NodeMask | undefined; preferred: boolean };

/** Hints by resource: `undefined` if any nodes are suitable, an empty list if none are. */
export type ResourceHints = Record<string, TopologyHint[] | undefined>;

/** The hint if there is no policy. */
export const NO_HINT: TopologyHint = { nodes: undefined, preferred: false };

/**
 * Allocates exclusive resources to containers. For a container that already has resources, the hints are the nodes of those resources. The
 * provider allocates nothing else between computing a container's hints and the container's allocation.
 */
export type HintProvider = {
  containerHints(pod: Pod, container: Container): ResourceHints;
  podHints(pod: Pod): ResourceHints;
  /**
   * The resources that the pod requests from another program; present if `allocate` calls one. Such a provider is called after the others,
   * and delays only pods with the same resources.
   */
  sharedBy?(pod: Pod): string[];
  /**
   * Allocates the container's resources. Init containers come first, in order. Repeated calls change nothing. Rejects if the allocation
   * fails.
   */
  allocate(request: AllocationRequest, signal: AbortSignal): Promise<void>;
  /** Frees the pod's resources after the pod has ended or was rejected. */
  release(podUid: string): Promise<void>;
};

export type AllocationRequest = { pod: Pod; container: Container; hint: TopologyHint };

/** A rejection with a reason of its own instead of `UnexpectedAdmissionError`. */
export class AdmissionError extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}
