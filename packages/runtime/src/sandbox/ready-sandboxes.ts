import { Backoff, Counter, errorMessage, Gauge, type Logger, type Registry, withTimeout } from '@podwright/base';
import type { Network } from '../network/network.ts';
import { newId } from '../records/ids.ts';
import type { SandboxConfig } from '../records/sandbox-record.ts';
import { CLOSE_GRACE_MS, SANDBOX_REFILL_PAUSE_MS, SANDBOX_WORK_TIMEOUT_MS } from '../time-limits.ts';
import { recordlessRequest } from './network-request.ts';
import type { SandboxController } from './sandbox-controller.ts';
import type { SandboxNamespaces } from './sandbox-namespaces.ts';

/** So many there are on a node that starts few pods: one pod, and the next one behind it. */
const LEAST = 2;
/** How many pods come soon is guessed from those of the last minute. */
const WINDOW_MS = 60_000;
/** Between attempts while they fail. */
const RETRY = { initialMs: 1000, maxMs: 60_000 };
const KEY = 'ready sandboxes';

export type ReadySandboxesDependencies = {
  /** How many there are at most; 0: none. */
  most: number;
  namespaces: Pick<SandboxNamespaces, 'prepare' | 'release'>;
  network: Pick<Network, 'prepare' | 'tearDown'>;
  /** How long the runtime has done nothing, in ms; 0 while it does something. */
  idleMs: () => number;
  logger: Logger;
  /** Where pods that took one, or could have taken one, are counted. */
  metrics?: Registry;
  now?: () => number;
};

/** A sandbox's id, chosen ahead, with its namespaces; `attached`: its network may hold something, which `tearDown` gives back. */
type ReadySandbox = { readonly id: string; netnsPath: string; attached: boolean };

/**
 * A few sandboxes that are made ahead, while the runtime has nothing else to do: namespaces that pods are given without waiting
 * for the kernel, attached to their network where that can be done ahead (`Network.prepare`). Each is nothing but an id that
 * no record has: when a pod takes it the record gets the id, and everything that finds things by id goes on from there. What a
 * killed runtime leaves of them, the next start removes as it removes all that no record knows.
 *
 * No pod waits for them, and none fails by them: where there is none, a pod's sandbox is made when it is asked for.
 */
export class ReadySandboxes {
  readonly #dependencies: ReadySandboxesDependencies;
  readonly #now: () => number;
  readonly #backoff: Backoff;
  readonly #requests: Counter<'result'> | undefined;
  /** Those that can be taken, the oldest first. */
  #ready: ReadySandbox[] = [];
  /** Those that are being made, or are to be removed: nothing new is made before they are gone. */
  readonly #unwanted = new Set<ReadySandbox>();
  /** When the last pods were started, no more of them than count. */
  #starts: number[] = [];
  /** On a node without pods of their own network nothing is made on the host that is not a namespace. */
  #attaches = false;
  #networkReady = true;
  /** Whether to look if the network is still the one that they are attached to. */
  #lookAtNetwork = false;
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

  /** How many can be taken now. */
  get count(): number {
    return this.#ready.length;
  }

  /** From now on some are made. `hadPods`: there are pods already that have a network of their own. */
  begin({ hadPods }: { hadPods: boolean }): void {
    this.#attaches = hadPods;
    this.#arm(SANDBOX_REFILL_PAUSE_MS);
  }

  /** The id of one for a pod, which is the pod's from now on; undefined if none is there that fits. */
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

  /** Has one removed that was taken and is nobody's after all. */
  giveUp(id: string): void {
    this.#drop([{ id, netnsPath: '', attached: true }]);
  }

  /** Told what the network says of itself: while it is not ready there are none. */
  networkIs({ ready }: { ready: boolean }): void {
    this.#networkReady = ready;
    this.#lookAtNetwork = ready;
    if (ready) this.#arm(SANDBOX_REFILL_PAUSE_MS);
    else this.dropAll();
  }

  /** For a network that changes: what was made for the old one is not given to any pod. */
  dropAll(): void {
    this.#drop(this.#ready);
    this.#ready = [];
  }

  /** Removes them all, so that a pod can have what they hold of the network; false if there were none. */
  async giveWay(): Promise<boolean> {
    if (this.#ready.length === 0) return false;
    const given = this.#ready;
    this.dropAll();
    for (const sandbox of given) await this.#remove(sandbox);
    return true;
  }

  /** Removes them all, and makes no more. What cannot be removed is logged, and left to the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#step;
    this.dropAll();
    using signal = withTimeout(undefined, CLOSE_GRACE_MS, 'remove ready sandboxes');
    for (const sandbox of this.#unwanted)
      await this.#remove(sandbox, signal).catch((error) => {
        this.#dependencies.logger.error({ id: sandbox.id, error: errorMessage(error) }, 'a ready sandbox stays behind');
      });
  }

  #metricsIn(registry: Registry): Counter<'result'> {
    const registers = [registry];
    const collect = (gauge: Gauge) => gauge.set(this.#ready.length);
    new Gauge({
      name: 'podwright_ready_sandboxes',
      help: 'Sandboxes that are made for pods to come',
      registers,
      collect() {
        collect(this);
      },
    });
    return new Counter({
      name: 'podwright_ready_sandbox_requests_total',
      help: 'Pods that a ready sandbox fits, by whether there was one',
      labelNames: ['result'],
      registers,
    });
  }

  #drop(sandboxes: ReadySandbox[]): void {
    for (const sandbox of sandboxes) this.#unwanted.add(sandbox);
    this.#arm(SANDBOX_REFILL_PAUSE_MS);
  }

  /** What is due sooner stays so: whoever asks all the time for something puts nothing off. */
  #arm(delayMs: number): void {
    if (this.#closed || this.#step !== undefined || this.#dependencies.most === 0) return;
    const dueAtMs = this.#now() + delayMs;
    if (this.#dueAtMs <= dueAtMs) return;
    this.#dueAtMs = dueAtMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tick(), delayMs).unref();
  }

  /** Takes one step if nothing else is being done, and comes back for the next. */
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
    const message = 'no sandboxes can be made ahead: pods start slower';
    if (!this.#failing) this.#dependencies.logger.warn({ error: errorMessage(error) }, message);
    this.#failing = true;
    return this.#backoff.next(KEY);
  }

  /** One step to what there should be. Returns when to look again, undefined: when something happens. */
  async #takeStep(): Promise<number | undefined> {
    const [unwanted] = this.#unwanted;
    const wanted = this.#networkReady ? this.#target() : 0;
    const spare = this.#ready.length - wanted;
    if (unwanted !== undefined) await this.#remove(unwanted);
    else if (spare > 0) this.#drop(this.#ready.splice(wanted));
    else if (this.#lookAtNetwork) await this.#checkNetwork();
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
    this.#unwanted.add(sandbox);
    sandbox.netnsPath = this.#dependencies.namespaces.prepare(sandbox.id).netnsPath;
    await this.#attach(sandbox);
    this.#failing = false;
    this.#backoff.forget(KEY);
  }

  /** Looks by one of them, which nobody takes meanwhile, whether they are attached to what pods are attached to now. */
  async #checkNetwork(): Promise<void> {
    this.#lookAtNetwork = false;
    const sandbox = this.#ready.pop();
    if (sandbox === undefined) return;
    this.#unwanted.add(sandbox);
    await this.#attach(sandbox);
  }

  /** Attaches one where that can be done ahead. It is unwanted until then: whatever fails is undone. */
  async #attach(sandbox: ReadySandbox): Promise<void> {
    const others = this.#ready;
    const attached = this.#attaches && (await this.#prepareNetwork(sandbox));
    if (this.#ready !== others) return; // all were dropped meanwhile
    if (others.some((other) => other.attached !== attached)) this.dropAll(); // the network has become another one
    if (sandbox.attached !== attached) return; // and this one is still in that of before
    this.#unwanted.delete(sandbox);
    this.#ready.push(sandbox);
  }

  /** Whether it is attached to the network of now. */
  async #prepareNetwork(sandbox: ReadySandbox): Promise<boolean> {
    const { network } = this.#dependencies;
    const before = sandbox.attached;
    sandbox.attached = true; // what fails may leave something
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
    this.#unwanted.delete(sandbox);
  }
}

/** How many there should be, when so many pods were started in the last minute. */
export function readyTarget(starts: number, most: number): number {
  return Math.min(most, Math.max(LEAST, starts));
}

/** Settings of network interfaces, which may be meant for those to come: a ready sandbox has its own already. */
const INTERFACE_SYSCTL = /^net[./][^./]+[./](conf|neigh)[./]/;

function fits(config: SandboxConfig, { takesReadySandboxes = false }: SandboxController): boolean {
  const { ipc, userNamespace, sysctls } = config;
  const setsInterfaces = Object.keys(sysctls).some((name) => INTERFACE_SYSCTL.test(name));
  return takesReadySandboxes && ipc === 'pod' && userNamespace === undefined && !setsInterfaces;
}
