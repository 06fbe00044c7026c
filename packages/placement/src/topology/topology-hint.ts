import type { Container, Pod } from '@podwright/kube-api';
import type { NodeMask } from './node-mask.ts';

/** A set of suitable NUMA nodes; `nodes` is `undefined` if any will do. */
export type TopologyHint = { nodes: NodeMask | undefined; preferred: boolean };

/** Hints by resource: `undefined` if any NUMA nodes will do, an empty list if none are suitable. */
export type ResourceHints = Record<string, TopologyHint[] | undefined>;

/** The hint used without a topology policy. */
export const NO_HINT: TopologyHint = { nodes: undefined, preferred: false };

/**
 * Allocates exclusive resources to containers. The hints for a container that already has resources are the NUMA nodes of those resources.
 * The provider makes no other allocation between computing a container's hints and allocating its resources.
 */
export type HintProvider = {
  containerHints(pod: Pod, container: Container): ResourceHints;
  podHints(pod: Pod): ResourceHints;
  /**
   * Returns the resources that the pod requests from another process. Must be defined if `allocate` calls other processes. Such a provider
   * is called last, and only delays pods requesting the same resources.
   */
  sharedBy?(pod: Pod): string[];
  /** Allocates the container's resources; idempotent. Init containers must come first, in order. Rejects if the allocation fails. */
  allocate(request: AllocationRequest, signal: AbortSignal): Promise<void>;
  /** Frees the pod's resources after the pod has terminated or been rejected. */
  release(podUid: string): Promise<void>;
};

export type AllocationRequest = { pod: Pod; container: Container; hint: TopologyHint };

/** Rejects a pod with a specific reason instead of `UnexpectedAdmissionError`. */
export class AdmissionError extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}
