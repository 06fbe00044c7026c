/** What the runtime says about itself: whether it is there, and whether pods can have a network (upstream's runtimeState). */
import { errorMessage, type Logger, sleep } from '@podwright/base';
import type { CriClient, RuntimeCondition, RuntimeFeatures, RuntimeHandler } from '@podwright/cri';

/** A runtime that was not ready for this long is down (maxWaitForContainerRuntime). */
const RUNTIME_DOWN_AFTER_MS = 30_000;

const RUNTIME_STATUS_RETRY_MS = 1000;

/** How often the runtime is asked how it is: upstream's period, and what it is while something is wrong, so that pods start soon after. */
const RUNTIME_STATUS_PERIOD_MS = 5000;

export type RuntimeStateOptions = {
  cri: CriClient;
  logger: Logger;
  /** Our runtime has something to report of a network that is ready. Called once for each message. */
  onNetworkNote?: (reason: string, message: string) => void;
};

/** What is made after the runtime state, which the sync of pods needs. */
export type RuntimeStateListeners = {
  /** What held pods up is over. Called once, whatever noticed it. */
  onRecovery: () => void;
  /** Other reasons to leave pods alone, in upstream's words. */
  healthChecks?: (() => string | undefined)[];
};

/** What a runtime can do, by its own account. */
export type RuntimeAbilities = { handlers: RuntimeHandler[]; features: RuntimeFeatures | undefined };

export class RuntimeState {
  readonly #options: RuntimeStateOptions;
  #listening: RuntimeStateListeners = { onRecovery: () => undefined };
  readonly #listeners = new Set<() => void>();
  #abilities: RuntimeAbilities | undefined;
  readonly #controller = new AbortController();
  /** When the runtime was last heard to be ready, monotonic milliseconds. */
  #readyAtMs: number | undefined;
  /** When it was asked last and had answered or failed. */
  #lookedAtMs: number | undefined;
  #notReady: string | undefined;
  #networkNotReady: string | undefined = 'container runtime network status is unknown';
  #networkNote = '';
  #failing = false;
  #listing = true;
  /** Something was wrong since pods were last said to go on. */
  #held = false;
  #wake = new AbortController();
  #told = '';
  #loop: Promise<void> = Promise.resolve();

  constructor(options: RuntimeStateOptions) {
    this.#options = options;
  }

  /** Asks once, then goes on asking until `stop`. */
  async start(listening: RuntimeStateListeners): Promise<void> {
    this.#listening = listening;
    await this.#look();
    this.#loop = this.#repeat();
  }

  async stop(): Promise<void> {
    this.#controller.abort();
    await this.#loop;
  }

  /**
   * Told by the PLEG when the runtime lists its pods no more, and when it does again: that shows also what is over between two looks.
   * It is then asked at once how it is.
   */
  noteListing(works: boolean): void {
    this.#listing = works;
    if (works) this.#wake.abort();
    else this.#held = true;
  }

  /** Why no pod can be synced now; none while all is well. */
  runtimeErrors(): string[] {
    const sinceMs = this.#readyAtMs === undefined ? undefined : performance.now() - this.#readyAtMs;
    const checks = (this.#listening.healthChecks ?? []).map((check) => check());
    return [
      sinceMs === undefined ? 'container runtime status check may not have completed yet' : undefined,
      sinceMs !== undefined && sinceMs >= RUNTIME_DOWN_AFTER_MS ? 'container runtime is down' : undefined,
      ...checks,
      this.#notReady,
    ].filter((error) => error !== undefined);
  }

  /** Why pods cannot have a network of their own now. */
  networkError(): string | undefined {
    return this.#networkNotReady;
  }

  /** What is to be known of the pods' network: why there is none, or what the runtime reports of it. */
  networkNote(): string | undefined {
    return this.#networkNotReady ?? (this.#networkNote === '' ? undefined : this.#networkNote);
  }

  /** What the runtime said that it can do when it was ready last; `undefined` before. */
  abilities(): RuntimeAbilities | undefined {
    return this.#abilities;
  }

  /** Calls back when what is wrong has changed; returns what ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** How long ago the runtime was asked last, and had answered or failed: a kubelet that hangs asks no more. */
  sinceLookMs(): number {
    return this.#lookedAtMs === undefined ? 0 : performance.now() - this.#lookedAtMs;
  }

  async #repeat(): Promise<void> {
    const { signal } = this.#controller;
    while (!signal.aborted) {
      const isWell = !this.#failing && this.#networkNotReady === undefined && this.#notReady === undefined;
      const woken = AbortSignal.any([signal, this.#wake.signal]);
      await sleep(isWell ? RUNTIME_STATUS_PERIOD_MS : RUNTIME_STATUS_RETRY_MS, woken).catch(() => undefined);
      if (signal.aborted) return;
      this.#wake = new AbortController(); // what is told during the look asks for one more
      await this.#look();
    }
  }

  async #look(): Promise<void> {
    const { cri, logger } = this.#options;
    if (this.#lookedAtMs !== undefined && !this.#isWell()) this.#held = true;
    try {
      const { status, runtimeHandlers, features } = await cri.runtime.status(
        {},
        { signal: this.#controller.signal, timeoutMs: RUNTIME_DOWN_AFTER_MS },
      );
      this.#take(status?.conditions ?? []);
      if (this.#notReady === undefined) this.#abilities = { handlers: runtimeHandlers, features };
      this.#failing = false;
    } catch (error) {
      if (this.#controller.signal.aborted) return;
      if (!this.#failing) logger.error({ error: errorMessage(error) }, 'container runtime sanity check failed');
      this.#failing = true;
    }
    this.#lookedAtMs = performance.now();
    this.#tell();
    if (!this.#held || !this.#isWell()) return;
    this.#held = false;
    this.#listening.onRecovery();
  }

  #take(conditions: RuntimeCondition[]): void {
    const problemOf = (type: string) => {
      const condition = conditions.find((one) => one.type === type);
      return condition?.status === true ? undefined : ((condition && shown(condition)) ?? `${type} is not told`);
    };
    const [runtime, network] = [problemOf('RuntimeReady'), problemOf('NetworkReady')];
    this.#networkNotReady = network && `container runtime network not ready: ${network}`;
    this.#notReady = runtime && `container runtime not ready: ${runtime}`;
    if (runtime === undefined) this.#readyAtMs = performance.now();
    this.#noteNetwork(conditions.find(({ type, status }) => type === 'NetworkReady' && status));
  }

  /** Of a network that is ready the runtimes of others report nothing. */
  #noteNetwork({ reason, message }: Pick<RuntimeCondition, 'reason' | 'message'> = { reason: '', message: '' }): void {
    if (message !== '' && message !== this.#networkNote) this.#options.onNetworkNote?.(reason, message);
    this.#networkNote = message;
  }

  #isWell(): boolean {
    return this.#listing && !this.#failing && this.runtimeErrors().length === 0 && this.#networkNotReady === undefined;
  }

  /** Each new problem once. That of every start is none: upstream's kubelet calls it an error. */
  #tell(): void {
    const errors = this.runtimeErrors();
    const text = [...errors, this.#networkNotReady ?? ''].join('; ');
    if (text !== this.#told && errors.length > 0)
      this.#options.logger[errors.every(isOfStart) ? 'info' : 'error']({ errors }, 'skipping pod synchronization');
    else if (text !== this.#told && this.#networkNotReady !== undefined)
      this.#options.logger.warn({ error: this.#networkNotReady }, 'the network of pods is not ready');
    const hasChanged = text !== this.#told;
    this.#told = text;
    if (hasChanged) for (const listener of this.#listeners) listener();
  }
}

/** Whether it only says that the first look is still to come. */
function isOfStart(error: string): boolean {
  return error.endsWith(' may not have completed yet') || error.endsWith(' has yet to be successful');
}

/** As upstream prints a condition. */
function shown({ type, status, reason, message }: RuntimeCondition): string {
  return `${type}=${status} reason:${reason} message:${message}`;
}
