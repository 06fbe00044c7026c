import type { Container, LifecycleHandler, Pod } from '../api/types.ts';

/** Runs one hook to its end. Rejects with what went wrong, or the signal's reason. */
export interface HookRunner {
  run(request: HookRequest, signal: AbortSignal): Promise<void>;
}

export type HookRequest = {
  pod: Pod;
  container: Container;
  containerId: string;
  /** The pod's addresses, primary first; the host's for a pod in the host network. */
  podIps: string[];
  handler: LifecycleHandler;
};
