import { cpus } from 'node:os';
import { Limiter, RUNTIME_NAME } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';

/** On a host that others keep busy, a sandbox that takes longer holds up no others. */
export const SANDBOX_PATIENCE_MS = 2000;

const IDLE_PROCESSORS_SHARE = 0.2;

/** While sandboxes wait for their turn, how often it is looked whether the processors are idle for this part of their time. */
export const IDLE_LOOK_MS = 100;

const LEAST_SANDBOXES_AT_ONCE = 4;

/** Sandboxes that are made at once on a busy host: asked for 110 at once, containerd takes a fifth longer for all. */
const SANDBOXES_PER_PROCESSOR = 2;

/** How many sandboxes a runtime is asked for at once while the host is busy; Podwright's own takes turns by itself. */
export function sandboxesAtOnce(runtimeName: string, processors: number): number {
  if (runtimeName === RUNTIME_NAME) return Number.POSITIVE_INFINITY;
  return Math.max(LEAST_SANDBOXES_AT_ONCE, SANDBOXES_PER_PROCESSOR * processors);
}

/** Tells which part of the processors' time since its last call they had nothing to do. */
export type IdleShare = () => number;

/** By the host's processors, which count in hundredths of a second. */
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
 * Has few sandboxes made at once, in order of arrival, while the processors are busy with them. Where these are idle, as sandboxes wait
 * for a network or fail, more and more are begun. Pods of the host's network take no turn: others may need what they set up.
 */
export class SandboxTurns {
  readonly #limiter: Limiter;
  readonly #startLooking: () => IdleShare;
  #looking: NodeJS.Timeout | undefined;

  constructor(atOnce: number, startLooking: () => IdleShare = hostIdleShare) {
    this.#limiter = new Limiter(atOnce, SANDBOX_PATIENCE_MS);
    this.#startLooking = startLooking;
  }

  /** Runs `create` when it is the pod's turn; a caller that aborts before that leaves with the signal's reason. */
  run(pod: Pod, create: () => Promise<string>, signal: AbortSignal): Promise<string> {
    if (pod.spec.hostNetwork === true) return create();
    const made = this.#limiter.run(create, signal);
    if (this.#limiter.waiting > 0) this.#look();
    return made;
  }

  #look(): void {
    if (this.#looking !== undefined) return;
    const idleShare = this.#startLooking();
    this.#looking = setInterval(() => {
      if (idleShare() >= IDLE_PROCESSORS_SHARE) this.#limiter.admit(this.#limiter.running);
      if (this.#limiter.waiting > 0) return;
      clearInterval(this.#looking);
      this.#looking = undefined;
    }, IDLE_LOOK_MS).unref();
  }
}
