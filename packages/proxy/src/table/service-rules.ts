import { addressBytes, type NftVerdict } from '@podwright/system';
import type { RuleElement, TableRules } from '../ledger/table-rules.ts';
import { type ChosenEndpoints, type Endpoint, endpointKey } from '../services/endpoints.ts';
import { isInBlock, type NodeFacts, ofFamily } from '../services/node-facts.ts';
import type { ServicePort } from '../services/service-port.ts';
import { guardChain, outerChain, pickChain, stickyChain, stickyEndpoint, type TargetChain } from './chains.ts';
import { endpointField, type Frontend, frontendKey, hairpinKey, numberedKey } from './fields.ts';
import { CHAINS, clientSet, type Policy, type SetNames, setNames } from './names.ts';

/** The chains, sets and elements that a service port needs, and the addresses and ports at which it is reachable. */
export type ServiceRules = TableRules & { frontends: Frontend[] };

export type RuleSettings = {
  node: NodeFacts;
  /** Whether to masquerade every connection to a cluster IP. */
  masqueradeAll: boolean;
};

/** Where connections go: to a chain, or a verdict if there is no endpoint. */
type Target = { verdict: NftVerdict; chain: string | undefined };

const DROP: Target = { verdict: 'drop', chain: undefined };
const REFUSE: Target = { verdict: { goto: CHAINS.refuse }, chain: CHAINS.refuse };

/** Returns the rules of a service port. The endpoints' order determines their numbers in the maps. */
export function rulesOf(port: ServicePort, endpoints: ChosenEndpoints, settings: RuleSettings): ServiceRules {
  return new PortRules(port, endpoints, settings).build();
}

class PortRules {
  readonly #port: ServicePort;
  readonly #endpoints: ChosenEndpoints;
  readonly #settings: RuleSettings;
  readonly #names: SetNames;
  readonly #rules: ServiceRules = { elements: [], chains: [], sets: [], frontends: [] };
  readonly #targets = new Map<Policy, Target>();
  #yields = false;

  constructor(port: ServicePort, endpoints: ChosenEndpoints, settings: RuleSettings) {
    this.#port = port;
    this.#endpoints = endpoints;
    this.#settings = settings;
    this.#names = setNames(port.version);
  }

  build(): ServiceRules {
    const { clusterIp, externalIps, loadBalancerIps, nodePort, port, version } = this.#port;
    const { nodePortAddresses } = this.#settings.node;
    this.#addClusterIp(this.#frontend(clusterIp, port));
    this.#yields = true; // a cluster IP, or a node port, belongs to its Service even if another one names it as an external address
    if (externalIps.length > 0) {
      const external = this.#external();
      for (const address of externalIps) this.#addExternal(this.#frontend(address, port), external);
    }
    if (loadBalancerIps.length > 0) {
      const guarded = this.#guarded();
      for (const address of loadBalancerIps) this.#addExternal(this.#frontend(address, port), guarded);
    }
    this.#yields = false;
    for (const address of nodePort === undefined ? [] : ofFamily(nodePortAddresses, version))
      this.#addExternal(this.#frontend(address, nodePort!), this.#external());
    this.#addHairpins();
    return this.#rules;
  }

  #frontend(address: string, port: number): Frontend {
    return { version: this.#port.version, address, protocol: this.#port.protocol, port };
  }

  #addClusterIp(frontend: Frontend): void {
    const { isInternalLocal } = this.#port;
    if (!this.#isOnHost(frontend.address))
      this.#add({ set: this.#names.clusterIps, key: addressBytes(frontend.address) });
    const policy = isInternalLocal ? 'local' : 'cluster';
    this.#addFrontend(frontend, this.#target(policy), [policy]);
    const { masqueradeAll, node } = this.#settings;
    const knowsPods = ofFamily(node.podCidrs, frontend.version).length > 0;
    if (masqueradeAll) this.#masquerade(frontend, CHAINS.masquerade);
    else if (knowsPods) this.#masquerade(frontend, CHAINS.masqueradeStrangers(frontend.version));
  }

  /**
   * Whether the cluster IP is also an endpoint of the Service, which means that a server on this host listens at it, such as the node's own
   * API. Packets to that server keep the cluster IP as their destination, so its other ports cannot be refused.
   */
  #isOnHost(clusterIp: string): boolean {
    const { cluster, local } = this.#endpoints;
    return [...cluster, ...local].some(({ address }) => address === clusterIp);
  }

  #addExternal(frontend: Frontend, target: Target): void {
    const { isExternalLocal } = this.#port;
    this.#addFrontend(frontend, target, isExternalLocal ? ['cluster', 'local'] : ['cluster']);
    this.#masquerade(frontend, isExternalLocal ? CHAINS.masqueradeHost : CHAINS.masquerade);
  }

  /** Adds a frontend, with the endpoints of the policies used by its chain. */
  #addFrontend(frontend: Frontend, target: Target, policies: Policy[]): void {
    const key = frontendKey(frontend);
    this.#rules.frontends.push(frontend);
    this.#add({ set: this.#names.services, key, data: target.verdict, comment: this.#port.name });
    for (const policy of policies)
      for (const [number, endpoint] of this.#endpoints[policy].entries())
        this.#add({ ...this.#endpointElement(policy, endpoint), key: numberedKey(key, number) });
  }

  #endpointElement(policy: Policy, endpoint: Endpoint): Omit<RuleElement, 'key'> {
    const { version, name, affinityMs } = this.#port;
    if (affinityMs === undefined) return { set: this.#names[policy], data: endpointField(endpoint) };
    const { chain } = stickyEndpoint(version, endpoint, { name, affinityMs });
    const set = policy === 'cluster' ? this.#names.stickyCluster : this.#names.stickyLocal;
    return { set, data: { goto: chain.name } };
  }

  #masquerade(frontend: Frontend, chain: string): void {
    this.#add({ set: this.#names.masquerade, key: frontendKey(frontend), data: { goto: chain } });
  }

  /**
   * Returns the target for connections to a traffic policy's endpoints. Connections are refused if the service has no endpoints at all, and
   * dropped if it has no local ones.
   */
  #target(policy: Policy): Target {
    const known = this.#targets.get(policy);
    if (known !== undefined) return known;
    const target = this.#makeTarget(policy);
    this.#targets.set(policy, target);
    return target;
  }

  #makeTarget(policy: Policy): Target {
    const endpoints = this.#endpoints[policy];
    if (!this.#endpoints.hasAny) return REFUSE;
    if (endpoints.length === 0) return DROP;
    const { version, name, affinityMs } = this.#port;
    if (affinityMs === undefined) return this.#use(pickChain(version, policy, endpoints.length));
    const sticky = endpoints.map((endpoint) => stickyEndpoint(version, endpoint, { name, affinityMs }));
    for (const { chain, clients } of sticky) {
      this.#use(chain);
      this.#rules.sets.push(clientSet(version, clients));
    }
    return this.#use(stickyChain(version, policy, sticky));
  }

  #external(): Target {
    const { isExternalLocal, version } = this.#port;
    const cluster = this.#target('cluster');
    if (!isExternalLocal || cluster.chain === undefined || cluster === REFUSE) return cluster;
    const targets = { cluster: cluster.chain, local: this.#target('local').chain };
    return this.#use(outerChain(version, ofFamily(this.#settings.node.podCidrs, version), targets));
  }

  /**
   * Returns the target for connections to load balancer IPs: that of `#external`, but restricted to the load balancer's source ranges. If
   * these ranges include the node, the load balancer IPs are added to them, because the node may use these as source addresses.
   */
  #guarded(): Target {
    const { sourceRanges, loadBalancerIps, version } = this.#port;
    const target = this.#external();
    if (sourceRanges.length === 0 || target.chain === undefined) return target;
    const own = ofFamily(this.#settings.node.addresses, version);
    const includesNode = sourceRanges.some((range) => own.some((address) => isInBlock(address, range)));
    const sources = includesNode ? [...sourceRanges, ...loadBalancerIps.map(asRange)] : sourceRanges;
    return this.#use(guardChain(version, sources, target.chain));
  }

  /**
   * Registers this node's endpoints for masquerading, so that one that reaches itself through the service does not see its own address as
   * the source.
   */
  #addHairpins(): void {
    const { version, protocol } = this.#port;
    const { cluster, local } = this.#endpoints;
    const here = [...cluster, ...local].filter(({ isLocal }) => isLocal);
    for (const { address, port } of new Map(here.map((endpoint) => [endpointKey(endpoint), endpoint])).values())
      this.#add({ set: this.#names.hairpin, key: hairpinKey({ version, address, protocol, port }) });
  }

  #use(chain: TargetChain): Target {
    this.#rules.chains.push(chain);
    return { verdict: { goto: chain.name }, chain: chain.name };
  }

  #add(element: RuleElement): void {
    this.#rules.elements.push(this.#yields ? { ...element, yields: true } : element);
  }
}

const asRange = (address: string): string => `${address}/${address.includes(':') ? 128 : 32}`;
