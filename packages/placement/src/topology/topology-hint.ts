import type { Container, Pod } from '@podwright/kube-api';
import type { NodeMask } from './node-mask.ts';

/** NUMA nodes that would do; `undefined` if it does not matter. */
export type TopologyHint = { nodes: NodeMask | undefined; preferred: boolean };

/** What would do for each resource: `undefined` if it does not matter, nothing if no nodes would. */
export type ResourceHints = Record<string, TopologyHint[] | undefined>;

/** Without a policy everything is given out by this. */
export const NO_HINT: TopologyHint = { nodes: undefined, preferred: false };

/**
 * Gives containers something that only one may have. Hints of what a container has already are those of that. Nothing else that the
 * provider gives out happens between the hints of a container and its allocation.
 */
export type HintProvider = {
  containerHints(pod: Pod, container: Container): ResourceHints;
  podHints(pod: Pod): ResourceHints;
  /**
   * What of the provider's a pod asks for, if `allocate` asks another program: it is called after the other providers, and while it
   * waits only pods wait that ask for the same.
   */
  sharedBy?(pod: Pod): string[];
  /** Gives the container what it asks for, in the order of init containers and then the others; again, what it has. Rejects with why not. */
  allocate(request: AllocationRequest, signal: AbortSignal): Promise<void>;
  /** The pod has ended, or may not run: what it had is free. */
  release(podUid: string): Promise<void>;
};

export type AllocationRequest = { pod: Pod; container: Container; hint: TopologyHint };

/** A refusal with a reason of its own, instead of `UnexpectedAdmissionError`. */
export class AdmissionError extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}
