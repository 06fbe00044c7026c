/** Where work of the kubelet meets the world, and how it goes wrong there. */
import { PodwrightError } from '@podwright/base';
import type { VirtualTime } from './virtual-time.fixture.ts';

/** How the next call of a stage goes. */
export type StageFault =
  /** The work is done late, or done at once and answered late. */
  | { kind: 'late'; ms: number; done: 'first' | 'last' }
  /** The work is done, or not, and an error is the answer. */
  | { kind: 'error'; done: boolean }
  /** No answer comes before the caller's patience ends. */
  | { kind: 'silence'; done: boolean }
  | { kind: 'twice' }
  /** The runtime goes down in the middle and comes back. */
  | { kind: 'runtimeRestart'; ms: number; done: boolean }
  /** The kubelet is killed in the middle and started again. */
  | { kind: 'kubeletKill'; ms: number; done: boolean }
  /** A container of the runtime ends in the middle. */
  | { kind: 'exit'; exitCode: number };

export type ArmedFault = { stage: string; fault: StageFault };

/** One life of a kubelet's process. */
export type KubeletLife = { dead: boolean };

export type StageCall = {
  life: KubeletLife;
  stage: string;
  signal?: AbortSignal;
  /** How long the caller waits for an answer. */
  timeoutMs: number;
};

/** What faults do to the rest of the world. */
export type StageEffects = {
  restartRuntime: (ms: number) => void;
  killKubelet: (ms: number) => void;
  exitAny: (exitCode: number) => void;
};

export class Stages {
  readonly #time: VirtualTime;
  readonly #effects: StageEffects;
  #armed: ArmedFault[] = [];
  /** Calls that get no answer. */
  readonly #silent = new Set<() => void>();
  /** Stages in the order of their calls. */
  readonly seen: string[] = [];

  constructor(time: VirtualTime, effects: StageEffects) {
    this.#time = time;
    this.#effects = effects;
  }

  arm(fault: ArmedFault): void {
    this.#armed.push(fault);
  }

  /** From now on everything goes well. */
  calm(): void {
    this.#armed = [];
    this.failSilent();
  }

  /** Connections break: those that wait hear of it. */
  failSilent(): void {
    for (const fail of this.#silent) fail();
    this.#silent.clear();
  }

  /** Does the work of a stage, or what is left of it. Nothing comes back to a kubelet that is dead. */
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
      // nobody waits for it any more
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

/** A retry on the way: the second answer is nobody's. */
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
