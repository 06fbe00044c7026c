import { networkInterfaces } from 'node:os';
import { Backoff, background, errorMessage, ignoreFailure, PodwrightError, pause } from '@podwright/base';
import type { KubeObject, Node } from '@podwright/kube-api';
import { type Informer, NODES, SERVICES, startInformer } from '@podwright/kube-client';
import type { NetlinkSocket, NetlinkSockets, NftChain } from '@podwright/system';
import { HealthCheckServers } from './health/health-check-servers.ts';
import { ServicesTable } from './kernel/services-table.ts';
import { deleteStaleFlows } from './kernel/stale-flows.ts';
import type { ProxyOptions, RunningProxy } from './proxy.ts';
import { addressesIn, type NodeFacts, nodeFacts } from './services/node-facts.ts';
import { ENDPOINT_SLICES, type EndpointSlice, PROXIED_SELECTOR, type ServiceObject } from './services/objects.ts';
import { frameChains } from './table/frame.ts';
import { ServicesModel } from './table/services-model.ts';
import { mergeUdpChanges, noUdpChange } from './table/udp-frontends.ts';

/** Time in which further changes join the same transaction. */
const BATCH_MS = 5;
const DEFAULT_CHECK_INTERVAL_MS = 5000;
const RETRY = { initialMs: 500, maxMs: 30_000 } as const;

/** The proxy: informers feed the model, and a loop applies what changed, checks the table, and retries after failures. */
export class ServiceProxy implements RunningProxy {
  readonly synced: Promise<void>;
  readonly #options: ProxyOptions & { sockets: NetlinkSockets };
  readonly #model: ServicesModel;
  readonly #socket: NetlinkSocket;
  readonly #table: ServicesTable;
  readonly #health: HealthCheckServers;
  readonly #stopping = new AbortController();
  readonly #retries = new Backoff(RETRY);
  readonly #sync = Promise.withResolvers<void>();
  #informers: Informer<KubeObject>[] = [];
  #node: Node | undefined;
  #work: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;
  #isChanged = true;
  #problem: string | undefined = 'the services have not been read yet';
  #udp = noUdpChange();

  constructor(options: ProxyOptions & { sockets: NetlinkSockets }) {
    this.#options = options;
    const { logger, table: name = 'podwright-services', masqueradeAll = false } = options;
    this.#model = new ServicesModel({ settings: { node: this.#facts(), masqueradeAll }, logger });
    this.#socket = options.sockets.open('netfilter');
    this.#table = new ServicesTable({ name, socket: this.#socket, logger });
    this.#health = new HealthCheckServers({ isHealthy: () => this.#problem === undefined, logger });
    this.synced = this.#sync.promise;
    ignoreFailure(this.synced, 'callers need not wait for it');
  }

  start(): void {
    const { signal, logger } = this.#options;
    const stop = () => background(logger, 'cannot stop the proxy', this.stop());
    if (signal?.aborted) return stop();
    signal?.addEventListener('abort', stop, { once: true });
    this.#informers = this.#startInformers();
    this.#work = this.#run();
  }

  problem(): string | undefined {
    return this.#problem;
  }

  async stop({ removeRules = false }: { removeRules?: boolean } = {}): Promise<void> {
    if (!this.#stopping.signal.aborted) {
      const reason = new PodwrightError('cancelled', 'the proxy was stopped');
      this.#stopping.abort(reason);
      this.#sync.reject(reason);
      for (const informer of this.#informers) informer.stop();
      this.#wake();
      this.#health.close();
    }
    await this.#work;
    try {
      if (removeRules) await this.#table.remove();
    } finally {
      this.#socket.close();
    }
  }

  #startInformers(): Informer<KubeObject>[] {
    const { client, nodeName } = this.#options;
    const model = this.#model;
    const services = startInformer<ServiceObject>(client, {
      resource: SERVICES,
      labelSelector: PROXIED_SELECTOR,
      onChange: ({ type, object }) =>
        this.#change(() => (type === 'DELETED' ? model.removeService(object) : model.putService(object))),
    });
    const slices = startInformer<EndpointSlice>(client, {
      resource: ENDPOINT_SLICES,
      labelSelector: PROXIED_SELECTOR,
      onChange: ({ type, object }) =>
        this.#change(() => (type === 'DELETED' ? model.removeSlice(object) : model.putSlice(object))),
    });
    const nodes = startInformer<Node>(client, {
      resource: NODES,
      fieldSelector: `metadata.name=${nodeName}`,
      onChange: ({ type, object }) => {
        this.#node = type === 'DELETED' ? undefined : object;
        this.#updateNode();
      },
    });
    return [services, slices, nodes] as Informer<KubeObject>[];
  }

  #change(apply: () => void): void {
    apply();
    this.#isChanged = true;
    this.#wake();
  }

  /** Recomputes all rules if the node changed in a way that matters; its status changes all the time. */
  #updateNode(): void {
    const before = this.#model.node;
    const facts = this.#facts();
    if (JSON.stringify(facts) === JSON.stringify(before)) return;
    if (facts.podCidrs.join() !== before.podCidrs.join()) this.#table.invalidate();
    this.#change(() => this.#model.setNode(facts));
  }

  #facts(): NodeFacts {
    const { nodeName, podCidrs, nodePortAddresses = 'primary' } = this.#options;
    const facts = nodeFacts(nodeName, this.#node);
    const isLoopback = (address: string) => address.startsWith('127.') || address === '::1';
    const addresses =
      nodePortAddresses === 'primary' ? facts.nodePortAddresses : addressesIn(nodePortAddresses, networkInterfaces());
    return {
      ...facts,
      podCidrs: podCidrs ?? facts.podCidrs,
      nodePortAddresses: addresses.filter((address) => !isLoopback(address)),
    };
  }

  async #run(): Promise<void> {
    const { checkIntervalMs = DEFAULT_CHECK_INTERVAL_MS } = this.#options;
    const { signal } = this.#stopping;
    const synced = Promise.all(this.#informers.map((informer) => informer.synced));
    if (
      !(await synced.then(
        () => true,
        () => false,
      ))
    )
      return;
    for (let checkAtMs = 0; !signal.aborted; ) {
      const isCheck = performance.now() >= checkAtMs;
      if (isCheck) checkAtMs = performance.now() + checkIntervalMs;
      const retryMs = await this.#applyChanges(isCheck);
      if (retryMs === undefined) await this.#waitForChange(checkAtMs - performance.now());
      else await pause(retryMs, signal);
    }
  }

  /** Waits for a change, and a little longer for those that follow it; at most this time. */
  async #waitForChange(limitMs: number): Promise<void> {
    const { signal } = this.#stopping;
    if (!this.#isChanged) {
      const changed = new AbortController();
      this.#wake = () => changed.abort();
      if (signal.aborted) return;
      await pause(limitMs, changed.signal);
    }
    if (this.#isChanged) await pause(BATCH_MS, signal);
  }

  /** Brings the kernel's rules up to date. Returns the time after which to try again, if it failed. */
  async #applyChanges(isCheck: boolean): Promise<number | undefined> {
    const { logger } = this.#options;
    this.#isChanged = false;
    try {
      if (isCheck) await this.#check();
      mergeUdpChanges(this.#udp, this.#model.refresh());
      await this.#table.apply(this.#model.ledger, () => this.#frame());
      await this.#deleteStaleFlows();
      this.#problem = undefined;
      await this.#health.update(this.#model.healthChecks(), this.#model.node.nodePortAddresses);
      this.#retries.forget('');
      this.#sync.resolve();
      return undefined;
    } catch (error) {
      this.#table.invalidate();
      this.#problem = errorMessage(error);
      logger.error({ error: this.#problem }, 'cannot apply the rules of services');
      return this.#retries.next('');
    }
  }

  /** Looks for what has no events here: addresses of interfaces, and other programs' changes of the table. */
  async #check(): Promise<void> {
    this.#updateNode();
    if (await this.#table.invalidateIfChanged(this.#model.ledger))
      this.#options.logger.warn({}, 'another program changed the rules of services: making them again');
  }

  #frame(): NftChain[] {
    const { bridgedCidrs = [] } = this.#options;
    return frameChains({ podCidrs: this.#model.node.podCidrs, bridgedCidrs });
  }

  async #deleteStaleFlows(): Promise<void> {
    const change = this.#udp;
    this.#udp = noUdpChange();
    await deleteStaleFlows(this.#socket, change).catch((error) => {
      const message =
        'cannot delete old UDP flows: for some minutes they may reach endpoints that a service no longer has';
      this.#options.logger.warn({ error: errorMessage(error) }, message);
    });
  }
}
