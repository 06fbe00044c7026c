import type { Container, Pod } from '@podwright/kube-api';
import type { NodeMask } from './node-mask.ts';

/** Suitable NUMA nodes; `undefined` for any. */
export type TopologyHint = { nodes: NodeMask | undefined; preferred: boolean };

/** Hints for each resource: `undefined` if any nodes are suitable, an empty list if none are. */
export type ResourceHints = Record<string, TopologyHint[] | undefined>;

/** The hint without a policy. */
export const NO_HINT: TopologyHint = { nodes: undefined, preferred: false };

/**
 * Allocates exclusive resources to containers. Hints for a container that already has resources are those resources' nodes.
 * Between the hints of a container and its allocation, the provider allocates nothing else.
 */
export type HintProvider = {
  containerHints(pod: Pod, container: Container): ResourceHints;
  podHints(pod: Pod): ResourceHints;
  /**
   * Resources that the pod requests from another program, if `allocate` calls one: such a provider is called after the others,
   * and delays only pods with the same resources.
   */
  sharedBy?(pod: Pod): string[];
  /**
   * Allocates the container's resources; init containers first, in order. Repeated calls change nothing. Rejects if that fails.
   */
  allocate(request: AllocationRequest, signal: AbortSignal): Promise<void>;
  /** Frees the pod's resources, after it has ended or was rejected. */
  release(podUid: string): Promise<void>;
};

export type AllocationRequest = { pod: Pod; container: Container; hint: TopologyHint };

/** A rejection with its own reason instead of `UnexpectedAdmissionError`. */
export class AdmissionError extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}
