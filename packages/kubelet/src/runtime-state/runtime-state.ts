/** Tracks whether the container runtime and its network are ready (upstream's runtimeState). */
import { errorMessage, type Logger, pause } from '@podwright/base';
import type { CriClient, RuntimeCondition, RuntimeFeatures, RuntimeHandler } from '@podwright/cri';
import { findCondition } from '@podwright/kube-api';

/** The container runtime counts as down after not being ready for this long (maxWaitForContainerRuntime). */
const RUNTIME_DOWN_AFTER_MS = 30_000;

const RUNTIME_STATUS_RETRY_MS = 1000;

/**
 * Interval between status calls to the container runtime, as in upstream. During a problem, the interval is `RUNTIME_STATUS_RETRY_MS`, so
 * that pods start soon after the problem is resolved.
 */
const RUNTIME_STATUS_PERIOD_MS = 5000;

export type RuntimeStateOptions = {
  cri: CriClient;
  logger: Logger;
  /** Called once for each distinct message that Podwright's own container runtime attaches to a ready network. */
  onNetworkNote?: (reason: string, message: string) => void;
};

/** Callbacks of components that are created after the runtime state. */
export type RuntimeStateListeners = {
  /** Called once when all problems are resolved, so that pods can be synced again. */
  onRecovery: () => void;
  /** Further checks that can prevent pods from being synced. Each returns upstream's message, or `undefined` if healthy. */
  healthChecks?: (() => string | undefined)[];
};

/** Runtime handlers and features reported by the container runtime. */
export type RuntimeAbilities = { handlers: RuntimeHandler[]; features: RuntimeFeatures | undefined };

export class RuntimeState {
  readonly #options: RuntimeStateOptions;
  #callbacks: RuntimeStateListeners = { onRecovery: () => undefined };
  readonly #listeners = new Set<() => void>();
  #abilities: RuntimeAbilities | undefined;
  readonly #controller = new AbortController();
  /** When the container runtime was last seen ready (monotonic milliseconds). */
  #readyAtMs: number | undefined;
  /** When the last status call completed or failed. */
  #checkedAtMs: number | undefined;
  #notReady: string | undefined;
  #networkNotReady: string | undefined = 'container runtime network status is unknown';
  #networkNote = '';
  #failing = false;
  #listing = true;
  /** Whether there has been a problem since `onRecovery` was last called. */
  #hadProblem = false;
  #wake = new AbortController();
  #reported = '';
  #loop: Promise<void> = Promise.resolve();

  constructor(options: RuntimeStateOptions) {
    this.#options = options;
  }

  /** Checks the container runtime once, then periodically until `stop` is called. */
  async start(callbacks: RuntimeStateListeners): Promise<void> {
    this.#callbacks = callbacks;
    await this.#check();
    this.#loop = this.#repeat();
  }

  async stop(): Promise<void> {
    this.#controller.abort();
    await this.#loop;
  }

  /**
   * Called by the PLEG when listing pods starts to fail and when it works again. This also reveals outages that fall between two checks. A
   * recovery triggers an immediate check.
   */
  noteListing(works: boolean): void {
    this.#listing = works;
    if (works) this.#wake.abort();
    else this.#hadProblem = true;
  }

  /** Returns the problems that currently prevent pods from being synced; empty if there are none. */
  runtimeErrors(): string[] {
    const sinceMs = this.#readyAtMs === undefined ? undefined : performance.now() - this.#readyAtMs;
    const checks = (this.#callbacks.healthChecks ?? []).map((check) => check());
    return [
      sinceMs === undefined ? 'container runtime status check may not have completed yet' : undefined,
      sinceMs !== undefined && sinceMs >= RUNTIME_DOWN_AFTER_MS ? 'container runtime is down' : undefined,
      ...checks,
      this.#notReady,
    ].filter((error) => error !== undefined);
  }

  /** Returns the reason why pods currently cannot get a network; `undefined` if they can. */
  networkError(): string | undefined {
    return this.#networkNotReady;
  }

  /** Returns the network error or, if there is none, the message that the container runtime attaches to a ready network. */
  networkNote(): string | undefined {
    return this.#networkNotReady ?? (this.#networkNote === '' ? undefined : this.#networkNote);
  }

  /** Returns the runtime handlers and features reported when the container runtime was last ready; `undefined` if it never was. */
  abilities(): RuntimeAbilities | undefined {
    return this.#abilities;
  }

  /** Registers a listener that is called when the problems change; returns a function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns the time since the last status call completed or failed. The time keeps growing while the kubelet hangs. */
  sinceCheckMs(): number {
    return this.#checkedAtMs === undefined ? 0 : performance.now() - this.#checkedAtMs;
  }

  async #repeat(): Promise<void> {
    const { signal } = this.#controller;
    while (!signal.aborted) {
      const isWell = !this.#failing && this.#networkNotReady === undefined && this.#notReady === undefined;
      const woken = AbortSignal.any([signal, this.#wake.signal]);
      await pause(isWell ? RUNTIME_STATUS_PERIOD_MS : RUNTIME_STATUS_RETRY_MS, woken);
      if (signal.aborted) return;
      this.#wake = new AbortController(); // a wake-up during the check causes another one
      await this.#check();
    }
  }

  async #check(): Promise<void> {
    const { cri, logger } = this.#options;
    if (this.#checkedAtMs !== undefined && !this.#isWell()) this.#hadProblem = true;
    try {
      const { status, runtimeHandlers, features } = await cri.runtime.status(
        {},
        { signal: this.#controller.signal, timeoutMs: RUNTIME_DOWN_AFTER_MS },
      );
      this.#update(status?.conditions ?? []);
      if (this.#notReady === undefined) this.#abilities = { handlers: runtimeHandlers, features };
      this.#failing = false;
    } catch (error) {
      if (this.#controller.signal.aborted) return;
      if (!this.#failing) logger.error({ error: errorMessage(error) }, 'container runtime sanity check failed');
      this.#failing = true;
    }
    this.#checkedAtMs = performance.now();
    this.#report();
    if (!this.#hadProblem || !this.#isWell()) return;
    this.#hadProblem = false;
    this.#callbacks.onRecovery();
  }

  #update(conditions: RuntimeCondition[]): void {
    const problemOf = (type: string) => {
      const condition = findCondition(conditions, type);
      return condition?.status === true ? undefined : ((condition && shown(condition)) ?? `${type} is not reported`);
    };
    const [runtime, network] = [problemOf('RuntimeReady'), problemOf('NetworkReady')];
    this.#networkNotReady = network && `container runtime network not ready: ${network}`;
    this.#notReady = runtime && `container runtime not ready: ${runtime}`;
    if (runtime === undefined) this.#readyAtMs = performance.now();
    this.#noteNetwork(conditions.find(({ type, status }) => type === 'NetworkReady' && status));
  }

  /** Reports a new message that the container runtime attaches to a ready network. Only Podwright's own runtime attaches one. */
  #noteNetwork({ reason, message }: Pick<RuntimeCondition, 'reason' | 'message'> = { reason: '', message: '' }): void {
    if (message !== '' && message !== this.#networkNote) this.#options.onNetworkNote?.(reason, message);
    this.#networkNote = message;
  }

  #isWell(): boolean {
    return this.#listing && !this.#failing && this.runtimeErrors().length === 0 && this.#networkNotReady === undefined;
  }

  /** Logs each change of the problems once, and notifies the listeners. Unlike in upstream, the initial state is not logged as an error. */
  #report(): void {
    const errors = this.runtimeErrors();
    const text = [...errors, this.#networkNotReady ?? ''].join('; ');
    if (text !== this.#reported && errors.length > 0)
      this.#options.logger[errors.every(isInitial) ? 'info' : 'error']({ errors }, 'skipping pod synchronization');
    else if (text !== this.#reported && this.#networkNotReady !== undefined)
      this.#options.logger.warn({ error: this.#networkNotReady }, 'the network of pods is not ready');
    const hasChanged = text !== this.#reported;
    this.#reported = text;
    if (hasChanged) for (const listener of this.#listeners) listener();
  }
}

/** Whether the error only means that the first check has not completed yet. */
function isInitial(error: string): boolean {
  return error.endsWith(' may not have completed yet') || error.endsWith(' has yet to be successful');
}

/** Formats a runtime condition as upstream does. */
function shown({ type, status, reason, message }: RuntimeCondition): string {
  return `${type}=${status} reason:${reason} message:${message}`;
}
