import { Backoff, Counter, errorMessage, Gauge, type Logger, type Registry, withTimeout } from '@podwright/base';
import type { Network } from '../network/network.ts';
import { newId } from '../records/ids.ts';
import type { SandboxConfig } from '../records/sandbox-record.ts';
import { CLOSE_GRACE_MS, SANDBOX_REFILL_PAUSE_MS, SANDBOX_WORK_TIMEOUT_MS } from '../time-limits.ts';
import { recordlessRequest } from './network-request.ts';
import type { SandboxController } from './sandbox-controller.ts';
import type { SandboxNamespaces } from './sandbox-namespaces.ts';

/** Minimum number of ready sandboxes: one for the next pod, and one for a pod that starts right after it. */
const LEAST = 2;
/** The target number of ready sandboxes depends on the number of pods started within this window. */
const WINDOW_MS = 60_000;
/** Backoff after failed attempts to prepare a sandbox. */
const RETRY = { initialMs: 1000, maxMs: 60_000 };
const KEY = 'ready sandboxes';

export type ReadySandboxesDependencies = {
  /** Maximum number of ready sandboxes; 0 disables them. */
  most: number;
  namespaces: Pick<SandboxNamespaces, 'prepare' | 'release'>;
  network: Pick<Network, 'prepare' | 'tearDown'>;
  /** Returns how long the container runtime has been idle, in ms; 0 while it is busy. */
  idleMs: () => number;
  logger: Logger;
  /** Registry for the ready-sandbox metrics. Optional. */
  metrics?: Registry;
  now?: () => number;
};

/**
 * A sandbox without a pod: a preassigned ID, and its namespaces. `attached`: the sandbox might hold network resources, which `tearDown`
 * releases.
 */
type ReadySandbox = { readonly id: string; netnsPath: string; attached: boolean };

/**
 * Prepares a few sandboxes while the container runtime is idle, so that pods do not have to wait for the kernel to create their namespaces.
 * If the network supports it (`Network.prepare`), they are already attached to the network. A ready sandbox has an ID but no record. When
 * it is taken for a pod, its ID is stored in the pod's record, and everything else is found by that ID. After a crash, the next start
 * removes all sandboxes without a record.
 *
 * Ready sandboxes never delay a pod or make it fail: if there is none, the pod's sandbox is created on demand.
 */
export class ReadySandboxes {
  readonly #dependencies: ReadySandboxesDependencies;
  readonly #now: () => number;
  readonly #backoff: Backoff;
  readonly #requests: Counter<'result'> | undefined;
  /** Ready sandboxes available to pods, oldest first. */
  #ready: ReadySandbox[] = [];
  /** Sandboxes that are being prepared, or that must be removed before others are prepared. */
  readonly #pending = new Set<ReadySandbox>();
  /** Times of the latest pod starts, limited to the maximum number of ready sandboxes. */
  #starts: number[] = [];
  /**
   * Whether to attach ready sandboxes to the network. While a node has no pods in the pod network, only namespaces are created on the host.
   */
  #attaches = false;
  #networkReady = true;
  /** Whether to check that ready sandboxes are attached to the network currently used by pods. */
  #mustCheckNetwork = false;
  #failing = false;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  #dueAtMs = Number.POSITIVE_INFINITY;
  #step: Promise<void> | undefined;

  constructor(dependencies: ReadySandboxesDependencies) {
    this.#dependencies = dependencies;
    this.#now = dependencies.now ?? Date.now;
    this.#backoff = new Backoff(RETRY, this.#now);
    this.#requests = dependencies.metrics && this.#metricsIn(dependencies.metrics);
  }

  /** Number of ready sandboxes currently available to pods. */
  get count(): number {
    return this.#ready.length;
  }

  /** Starts preparing sandboxes. `hadPods`: whether the pod network already has pods. */
  begin({ hadPods }: { hadPods: boolean }): void {
    this.#attaches = hadPods;
    this.#arm(SANDBOX_REFILL_PAUSE_MS);
  }

  /** Takes a ready sandbox for a pod and returns its ID; undefined if there is none, or if the pod's configuration rules it out. */
  take(config: SandboxConfig, controller: SandboxController): string | undefined {
    if (config.network !== 'pod') return undefined;
    this.#attaches = true;
    if (!fits(config, controller)) return undefined;
    this.#starts = [...this.#starts, this.#now()].slice(-Math.max(1, this.#dependencies.most));
    this.#arm(SANDBOX_REFILL_PAUSE_MS);
    const taken = this.#ready.shift();
    this.#requests?.inc({ result: taken === undefined ? 'miss' : 'hit' });
    return taken?.id;
  }

  /** Removes a ready sandbox that was taken for a pod but not used. */
  discard(id: string): void {
    this.#drop([{ id, netnsPath: '', attached: true }]);
  }

  /** Must be called with every new network status. There are no ready sandboxes while the network is not ready. */
  onNetworkStatus({ ready }: { ready: boolean }): void {
    this.#networkReady = ready;
    this.#mustCheckNetwork = ready;
    if (ready) this.#arm(SANDBOX_REFILL_PAUSE_MS);
    else this.dropAll();
  }

  /** Drops all ready sandboxes. Called when the network changes, so that no pod gets a sandbox that is attached to the old network. */
  dropAll(): void {
    this.#drop(this.#ready);
    this.#ready = [];
  }

  /** Removes all ready sandboxes to free their addresses for a pod. Returns false if there were none. */
  async releaseAll(): Promise<boolean> {
    if (this.#ready.length === 0) return false;
    const released = this.#ready;
    this.dropAll();
    for (const sandbox of released) await this.#remove(sandbox);
    return true;
  }

  /** Removes all ready sandboxes and stops preparing new ones. Failures are logged; the next start removes the rest. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#step;
    this.dropAll();
    using signal = withTimeout(undefined, CLOSE_GRACE_MS, 'remove ready sandboxes');
    for (const sandbox of this.#pending)
      await this.#remove(sandbox, signal).catch((error) => {
        this.#dependencies.logger.error(
          { id: sandbox.id, error: errorMessage(error) },
          'cannot remove a ready sandbox',
        );
      });
  }

  #metricsIn(registry: Registry): Counter<'result'> {
    const registers = [registry];
    const collect = (gauge: Gauge) => gauge.set(this.#ready.length);
    new Gauge({
      name: 'podwright_ready_sandboxes',
      help: 'Sandboxes that are prepared for future pods',
      registers,
      collect() {
        collect(this);
      },
    });
    return new Counter({
      name: 'podwright_ready_sandbox_requests_total',
      help: 'Pods that could use a ready sandbox, by whether there was one',
      labelNames: ['result'],
      registers,
    });
  }

  #drop(sandboxes: ReadySandbox[]): void {
    for (const sandbox of sandboxes) this.#pending.add(sandbox);
    this.#arm(SANDBOX_REFILL_PAUSE_MS);
  }

  /**
   * Schedules the next step of preparing or removing sandboxes. An earlier step that is already scheduled stays scheduled, so that frequent
   * calls do not postpone it.
   */
  #arm(delayMs: number): void {
    if (this.#closed || this.#step !== undefined || this.#dependencies.most === 0) return;
    const dueAtMs = this.#now() + delayMs;
    if (this.#dueAtMs <= dueAtMs) return;
    this.#dueAtMs = dueAtMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tick(), delayMs).unref();
  }

  /** Takes the next step of preparing or removing ready sandboxes if the container runtime is idle, then schedules another. */
  #tick(): void {
    this.#dueAtMs = Number.POSITIVE_INFINITY;
    const waitMs = Math.max(SANDBOX_REFILL_PAUSE_MS - this.#dependencies.idleMs(), this.#backoff.remainingMs(KEY));
    if (waitMs > 0) return this.#arm(waitMs);
    const step = this.#takeStep().catch((error) => this.#failed(error));
    this.#step = step.then((nextMs) => {
      this.#step = undefined;
      if (nextMs !== undefined) this.#arm(nextMs);
    });
  }

  #failed(error: unknown): number {
    const message = 'cannot prepare ready sandboxes: pods start slower';
    if (!this.#failing) this.#dependencies.logger.warn({ error: errorMessage(error) }, message);
    this.#failing = true;
    return this.#backoff.next(KEY);
  }

  /**
   * Takes one step toward the target number of ready sandboxes: removes, checks or prepares one. Returns the delay until the next step;
   * undefined if there is nothing to do until the next event.
   */
  async #takeStep(): Promise<number | undefined> {
    const [toRemove] = this.#pending;
    const target = this.#networkReady ? this.#target() : 0;
    const spare = this.#ready.length - target;
    if (toRemove !== undefined) await this.#remove(toRemove);
    else if (spare > 0) this.#drop(this.#ready.splice(target));
    else if (this.#mustCheckNetwork) await this.#checkNetwork();
    else if (spare < 0) await this.#make();
    else return this.#starts[0] === undefined ? undefined : this.#starts[0] + WINDOW_MS - this.#now();
    return 0;
  }

  #target(): number {
    const since = this.#now() - WINDOW_MS;
    this.#starts = this.#starts.filter((atMs) => atMs > since);
    return readyTarget(this.#starts.length, this.#dependencies.most);
  }

  async #make(): Promise<void> {
    const sandbox: ReadySandbox = { id: newId(), netnsPath: '', attached: false };
    this.#pending.add(sandbox);
    sandbox.netnsPath = this.#dependencies.namespaces.prepare(sandbox.id).netnsPath;
    await this.#attach(sandbox);
    this.#failing = false;
    this.#backoff.forget(KEY);
  }

  /**
   * Checks whether ready sandboxes are attached to the network currently used by pods, by attaching one of them again. That sandbox is
   * unavailable during the check.
   */
  async #checkNetwork(): Promise<void> {
    this.#mustCheckNetwork = false;
    const sandbox = this.#ready.pop();
    if (sandbox === undefined) return;
    this.#pending.add(sandbox);
    await this.#attach(sandbox);
  }

  /**
   * Attaches a ready sandbox to the network, if the network supports that. The sandbox remains in `#pending` meanwhile, so that it is
   * removed after a failure.
   */
  async #attach(sandbox: ReadySandbox): Promise<void> {
    const others = this.#ready;
    const attached = this.#attaches && (await this.#prepareNetwork(sandbox));
    if (this.#ready !== others) return; // all ready sandboxes were dropped in the meantime
    if (others.some((other) => other.attached !== attached)) this.dropAll(); // these are attached to the old network
    if (sandbox.attached !== attached) return; // this one is still attached to the old network
    this.#pending.delete(sandbox);
    this.#ready.push(sandbox);
  }

  /** Attaches the sandbox to the current network, if the network supports that. Returns whether it is attached. */
  async #prepareNetwork(sandbox: ReadySandbox): Promise<boolean> {
    const { network } = this.#dependencies;
    const before = sandbox.attached;
    sandbox.attached = true; // a failed attempt may leave resources
    using signal = withTimeout(undefined, SANDBOX_WORK_TIMEOUT_MS, 'attach a ready sandbox to its network');
    const attached = (await network.prepare?.(sandbox.id, sandbox.netnsPath, signal)) ?? false;
    sandbox.attached = before || attached;
    return attached;
  }

  async #remove(sandbox: ReadySandbox, parent?: AbortSignal): Promise<void> {
    const { network, namespaces } = this.#dependencies;
    const { id, attached } = sandbox;
    using signal = withTimeout(parent, SANDBOX_WORK_TIMEOUT_MS, `remove the ready sandbox ${id}`);
    if (attached) await network.tearDown(recordlessRequest(id), signal);
    namespaces.release(id);
    this.#pending.delete(sandbox);
  }
}

/** Returns the target number of ready sandboxes for this number of pod starts in the last minute. */
export function readyTarget(starts: number, most: number): number {
  return Math.min(most, Math.max(LEAST, starts));
}

/**
 * Matches interface sysctls, including defaults for new interfaces. A pod with one of these cannot use a ready sandbox, whose interface
 * already exists.
 */
const INTERFACE_SYSCTL = /^net[./][^./]+[./](conf|neigh)[./]/;

function fits(config: SandboxConfig, { takesReadySandboxes = false }: SandboxController): boolean {
  const { ipc, userNamespace, sysctls } = config;
  const setsInterfaces = Object.keys(sysctls).some((name) => INTERFACE_SYSCTL.test(name));
  return takesReadySandboxes && ipc === 'pod' && userNamespace === undefined && !setsInterfaces;
}
