import { cpus } from 'node:os';
import { Limiter, RUNTIME_NAME } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';

/** How long a sandbox creation counts towards the concurrency limit. Slower ones stop counting, so that they do not stall the queue. */
export const SANDBOX_PATIENCE_MS = 2000;

/** The concurrency limit is raised while at least this share of CPU time is idle. */
const IDLE_PROCESSORS_SHARE = 0.2;

/** Sampling interval of the idle CPU share while sandbox creations are queued. */
export const IDLE_SAMPLE_MS = 100;

const LEAST_SANDBOXES_AT_ONCE = 4;

/** Concurrent sandbox creations per CPU on a busy host. With 110 at once, containerd takes 20 % longer in total. */
const SANDBOXES_PER_PROCESSOR = 2;

/**
 * Returns the maximum number of concurrent RunPodSandbox calls on a busy host. Unlimited for Podwright's own container runtime, which has
 * its own queue.
 */
export function sandboxesAtOnce(runtimeName: string, processors: number): number {
  if (runtimeName === RUNTIME_NAME) return Number.POSITIVE_INFINITY;
  return Math.max(LEAST_SANDBOXES_AT_ONCE, SANDBOXES_PER_PROCESSOR * processors);
}

/** Returns the share of CPU time that has been idle since the last call. */
export type IdleShare = () => number;

/** Measures the idle share of the host's CPUs. Their counters have a resolution of 10 ms. */
export function hostIdleShare(): IdleShare {
  const read = () => {
    const all = cpus().map(({ times }) => times);
    return { atMs: performance.now(), processors: all.length, idleMs: all.reduce((sum, { idle }) => sum + idle, 0) };
  };
  let last = read();
  return () => {
    const now = read();
    const share = (now.idleMs - last.idleMs) / ((now.atMs - last.atMs) * now.processors);
    last = now;
    return share;
  };
}

/**
 * Limits concurrent sandbox creations while the CPUs are busy, first come, first served. While the CPUs are idle, for example because
 * sandboxes are waiting for a network, the limit is raised step by step. Pods on the host network do not queue, because one of them might
 * set up the network that the queued sandboxes are waiting for.
 */
export class SandboxTurns {
  readonly #limiter: Limiter;
  readonly #startSampling: () => IdleShare;
  #sampling: NodeJS.Timeout | undefined;

  constructor(atOnce: number, startSampling: () => IdleShare = hostIdleShare) {
    this.#limiter = new Limiter(atOnce, SANDBOX_PATIENCE_MS);
    this.#startSampling = startSampling;
  }

  /** Runs `create` once the concurrency limit permits it. Rejects with the signal's reason if the signal aborts first. */
  run(pod: Pod, create: () => Promise<string>, signal: AbortSignal): Promise<string> {
    if (pod.spec.hostNetwork === true) return create();
    const created = this.#limiter.run(create, signal);
    if (this.#limiter.waiting > 0) this.#sampleWhileWaiting();
    return created;
  }

  #sampleWhileWaiting(): void {
    if (this.#sampling !== undefined) return;
    const idleShare = this.#startSampling();
    this.#sampling = setInterval(() => {
      if (idleShare() >= IDLE_PROCESSORS_SHARE) this.#limiter.admit(this.#limiter.running);
      if (this.#limiter.waiting > 0) return;
      clearInterval(this.#sampling);
      this.#sampling = undefined;
    }, IDLE_SAMPLE_MS).unref();
  }
}
