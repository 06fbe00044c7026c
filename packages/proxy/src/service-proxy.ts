import { networkInterfaces } from 'node:os';
import { background, errorMessage } from '@podwright/base';
import type { KubeObject, Node } from '@podwright/kube-api';
import { ENDPOINT_SLICES, type Informer, NODES, SERVICES, startInformer } from '@podwright/kube-client';
import type { NetlinkSocket, NetlinkSockets } from '@podwright/system';
import { HealthCheckServers } from './health/health-check-servers.ts';
import { canFilterBridges, filterBridge, isBridgeFiltered } from './kernel/bridge-filter.ts';
import { deleteStaleFlows } from './kernel/stale-flows.ts';
import type { ProxyOptions, RunningProxy } from './proxy.ts';
import { RuleLoop } from './rule-loop.ts';
import { reservedCidrs } from './services/external-addresses.ts';
import { addressesIn, type NodeFacts, nodeFacts } from './services/node-facts.ts';
import { type EndpointSlice, PROXIED_SELECTOR, type ServiceObject } from './services/objects.ts';
import { frameChains } from './table/frame.ts';
import { ServicesModel } from './table/services-model.ts';
import { mergeUdpChanges, noUdpChange } from './table/udp-frontends.ts';

/** Serves Services like kube-proxy: informers feed the model, and a loop keeps the model's rules in sync in the kernel. */
export class ServiceProxy implements RunningProxy {
  readonly #options: ProxyOptions & { sockets: NetlinkSockets };
  readonly #model: ServicesModel;
  readonly #socket: NetlinkSocket;
  readonly #loop: RuleLoop;
  readonly #health: HealthCheckServers;
  #informers: Informer<KubeObject>[] = [];
  #node: Node | undefined;
  #udp = noUdpChange();
  /** Subnets whose bridged packets bypass the packet filter, so that connections within them must be masqueraded. */
  #bypassed: readonly string[];

  constructor(options: ProxyOptions & { sockets: NetlinkSockets }) {
    this.#options = options;
    this.#bypassed = options.bridgedCidrs ?? [];
    const { logger, table = 'podwright-services', masqueradeAll = false, checkIntervalMs } = options;
    this.#model = new ServicesModel({ settings: { node: this.#facts(), masqueradeAll }, logger });
    this.#socket = options.sockets.open('netfilter');
    this.#loop = new RuleLoop({
      ...{ table, socket: this.#socket, ledger: this.#model.ledger, logger, checkIntervalMs },
      refresh: () => mergeUdpChanges(this.#udp, this.#model.refresh()),
      frame: () => frameChains({ podCidrs: this.#model.node.podCidrs, bridgedCidrs: this.#bypassed }),
      onApplied: () => this.#followRules(),
      onCheck: () => this.#updateNode(), // addresses of interfaces have no events here
    });
    this.#health = new HealthCheckServers({ isHealthy: () => this.problem() === undefined, logger });
  }

  get synced(): Promise<void> {
    return this.#loop.synced;
  }

  problem(): string | undefined {
    return this.#loop.problem();
  }

  start(): void {
    const { signal, logger } = this.#options;
    const stop = () => background(logger, 'cannot stop the proxy', this.stop());
    if (signal?.aborted) return stop();
    signal?.addEventListener('abort', stop, { once: true });
    this.#informers = this.#startInformers();
    this.#loop.start(this.#informers);
  }

  async stop({ removeRules = false }: { removeRules?: boolean } = {}): Promise<void> {
    for (const informer of this.#informers.splice(0)) informer.stop();
    await this.#loop.stop({ removeRules });
    this.#health.close();
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
    this.#loop.changed();
  }

  /**
   * Recomputes all rules if one of the facts they depend on has changed in the Node object. Most updates of the Node object change only its
   * status.
   */
  #updateNode(): void {
    const before = this.#model.node;
    const facts = this.#facts();
    if (JSON.stringify(facts) === JSON.stringify(before)) return;
    this.#model.setNode(facts);
    if (facts.podCidrs.join() === before.podCidrs.join()) this.#loop.changed();
    else this.#loop.frameChanged();
  }

  #facts(): NodeFacts {
    const { nodeName, podCidrs: givenCidrs, serviceCidrs, nodePortAddresses = 'primary' } = this.#options;
    const facts = nodeFacts(nodeName, this.#node);
    const isLoopback = (address: string) => address.startsWith('127.') || address === '::1';
    const addresses =
      nodePortAddresses === 'primary' ? facts.nodePortAddresses : addressesIn(nodePortAddresses, networkInterfaces());
    const podCidrs = givenCidrs ?? facts.podCidrs;
    const reserved = { serviceCidrs: serviceCidrs ?? [], podCidrs, node: this.#node, interfaces: networkInterfaces() };
    return {
      ...facts,
      podCidrs,
      reservedCidrs: serviceCidrs === undefined ? [] : reservedCidrs(reserved),
      nodePortAddresses: addresses.filter((address) => !isLoopback(address)),
    };
  }

  /** Deletes stale UDP flows, and updates the health check ports, to match the rules now in effect. */
  async #followRules(): Promise<void> {
    const change = this.#udp;
    this.#udp = noUdpChange();
    await deleteStaleFlows(this.#socket, change).catch((error) => {
      const message =
        'cannot delete old UDP flows: for some minutes they may reach endpoints that a service no longer has';
      this.#options.logger.warn({ error: errorMessage(error) }, message);
    });
    await this.#health.update(this.#model.healthChecks(), this.#model.node.nodePortAddresses);
    await this.#filterBridge();
  }

  /**
   * Makes the kernel filter the bridge's packets, including replies between its pods. Called often, because the bridge may be created
   * later.
   */
  async #filterBridge(): Promise<void> {
    const { bridge, bridgedCidrs = [], sockets, logger } = this.#options;
    if (bridge === undefined || bridgedCidrs.length === 0 || !canFilterBridges()) return;
    const isFiltered = (cidr: string) => isBridgeFiltered(bridge, cidr.includes(':') ? 6 : 4);
    if (!bridgedCidrs.every(isFiltered))
      await filterBridge(sockets, bridge).catch((error: unknown) => {
        const message = 'cannot filter bridged packets: Services do not see the addresses of client pods';
        logger.warn({ bridge, error: errorMessage(error) }, message);
      });
    const bypassed = bridgedCidrs.filter((cidr) => !isFiltered(cidr));
    if (bypassed.join() === this.#bypassed.join()) return;
    this.#bypassed = bypassed;
    this.#loop.frameChanged();
  }
}
