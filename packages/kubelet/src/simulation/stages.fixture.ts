/** Stages at which the kubelet interacts with its environment, and their faults. */
import { PodwrightError } from '@podwright/base';
import type { VirtualTime } from './virtual-time.fixture.ts';

/** A fault in the next call at a stage. `done`: whether the call takes effect first. */
export type StageFault =
  /** The call takes effect late, or takes effect immediately and returns late. */
  | { kind: 'late'; ms: number; done: 'first' | 'last' }
  /** The call fails with an error, whether or not it has taken effect. */
  | { kind: 'error'; done: boolean }
  /** The call hangs until the caller's timeout. */
  | { kind: 'silence'; done: boolean }
  | { kind: 'twice' }
  /** The runtime restarts during the call. */
  | { kind: 'runtimeRestart'; ms: number; done: boolean }
  /** The kubelet is killed during the call and started again. */
  | { kind: 'kubeletKill'; ms: number; done: boolean }
  /** A container exits during the call. */
  | { kind: 'exit'; exitCode: number };

export type ArmedFault = { stage: string; fault: StageFault };

/** One run of the kubelet process. `dead`: the process has been killed. */
export type KubeletLife = { dead: boolean };

export type StageCall = {
  life: KubeletLife;
  stage: string;
  signal?: AbortSignal;
  timeoutMs: number;
};

export type StageEffects = {
  restartRuntime: (ms: number) => void;
  killKubelet: (ms: number) => void;
  exitAny: (exitCode: number) => void;
};

export class Stages {
  readonly #time: VirtualTime;
  readonly #effects: StageEffects;
  #armed: ArmedFault[] = [];
  /** For each hanging call, a function that fails it. */
  readonly #silent = new Set<() => void>();
  /** The stages of all calls, in order. */
  readonly seen: string[] = [];

  constructor(time: VirtualTime, effects: StageEffects) {
    this.#time = time;
    this.#effects = effects;
  }

  arm(fault: ArmedFault): void {
    this.#armed.push(fault);
  }

  /** Ends all faults. */
  calm(): void {
    this.#armed = [];
    this.failSilent();
  }

  /** Breaks connections, which fails all hanging calls. */
  failSilent(): void {
    for (const fail of this.#silent) fail();
    this.#silent.clear();
  }

  /** Performs the work of a stage, applying the next armed fault of that stage. Never resolves for a dead kubelet. */
  async pass<T>(call: StageCall, work: () => Promise<T>): Promise<T> {
    this.seen.push(call.stage);
    if (call.life.dead) return never();
    const at = this.#armed.findIndex(({ stage }) => stage === call.stage);
    const fault = at < 0 ? undefined : this.#armed.splice(at, 1)[0]!.fault;
    const outcome = this.#attempt(call, fault, work);
    const answer = await settle(call.signal === undefined ? outcome : orAborted(outcome, call.signal));
    if (call.life.dead) return never();
    if ('error' in answer) throw answer.error;
    return answer.value;
  }

  async #attempt<T>(call: StageCall, fault: StageFault | undefined, work: () => Promise<T>): Promise<T> {
    switch (fault?.kind) {
      case undefined:
        return work();
      case 'late':
        return this.#late(call, fault, work);
      case 'twice':
        return twice(work);
      case 'exit': {
        const value = await work();
        this.#effects.exitAny(fault.exitCode);
        return value;
      }
      case 'error':
        if (fault.done) await work();
        throw new PodwrightError('internal', `${call.stage}: something went wrong`);
      case 'silence':
        if (fault.done) await work();
        return this.#silence(call);
      case 'runtimeRestart':
        if (fault.done) await work();
        this.#effects.restartRuntime(fault.ms);
        throw new PodwrightError('unavailable', `${call.stage}: the connection broke`);
      case 'kubeletKill':
        if (fault.done) await work();
        this.#effects.killKubelet(fault.ms);
        return never();
    }
  }

  async #late<T>(
    call: StageCall,
    { ms, done }: Extract<StageFault, { kind: 'late' }>,
    work: () => Promise<T>,
  ): Promise<T> {
    if (done === 'last') {
      await this.#time.sleep(ms);
      // the caller has exited or aborted, so the call never returns
      if (call.life.dead || call.signal?.aborted) return never();
      return work();
    }
    const value = await work();
    await this.#time.sleep(ms);
    return value;
  }

  #silence({ stage, timeoutMs }: StageCall): Promise<never> {
    const { promise, reject } = Promise.withResolvers<never>();
    const fail = () => reject(new PodwrightError('unavailable', `${stage}: the connection broke`));
    this.#silent.add(fail);
    this.#time.after(timeoutMs, () => {
      this.#silent.delete(fail);
      reject(new PodwrightError('deadline_exceeded', `${stage}: no answer`));
    });
    return promise;
  }
}

/** Sends a request twice; the second response is discarded. */
async function twice<T>(work: () => Promise<T>): Promise<T> {
  const value = await work();
  await work().catch(() => undefined);
  return value;
}

export function never(): Promise<never> {
  return new Promise(() => undefined);
}

async function settle<T>(promise: Promise<T>): Promise<{ value: T } | { error: unknown }> {
  try {
    return { value: await promise };
  } catch (error) {
    return { error };
  }
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
