import { errorMessage, type Logger } from '@podwright/base';
import { RuleLedger, type RuleOwner } from '../ledger/rule-ledger.ts';
import { chooseEndpoints, type Endpoint, endpointKey, endpointsOf } from '../services/endpoints.ts';
import { type ReservedAddresses, withoutReserved } from '../services/external-addresses.ts';
import { type HealthCheck, healthCheckOf } from '../services/health-check.ts';
import type { NodeFacts } from '../services/node-facts.ts';
import { type EndpointSlice, isProxied, SERVICE_NAME_LABEL, type ServiceObject } from '../services/objects.ts';
import { policiesOf, type ServicePort, servicePortsOf } from '../services/service-port.ts';
import { arrangeEndpoints } from './arrange.ts';
import type { Frontend } from './fields.ts';
import { VERSIONS } from './frame.ts';
import { emptySets, type Policy } from './names.ts';

import { type RuleSettings, rulesOf, type ServiceRules } from './service-rules.ts';
import { oversized, portId, serviceSize, slicesByPort } from './service-size.ts';
import { noUdpChange, type UdpChange, type UdpFrontend } from './udp-frontends.ts';

/**
 * What was last computed for a Service besides its rules: its UDP frontends, its health check, and, for each list of endpoints, the
 * endpoint keys by number (`order`).
 */
type Computed = {
  udp: Map<string, UdpFrontend>;
  health: HealthCheck | undefined;
  order: Map<string, string[]>;
};

export type ServicesModelOptions = { settings: RuleSettings; logger: Logger };

/**
 * The known Services and EndpointSlices, and the rules computed from them. A change marks its Service, and `refresh` recomputes the rules
 * of marked ones.
 */
export class ServicesModel {
  readonly ledger = new RuleLedger(VERSIONS.flatMap(emptySets));
  readonly #logger: Logger;
  #settings: RuleSettings;
  readonly #services = new Map<string, ServiceObject>();
  readonly #slices = new Map<string, Map<string, EndpointSlice>>();
  readonly #serviceOfSlice = new Map<string, string>();
  readonly #computed = new Map<string, Computed>();
  readonly #marked = new Set<string>();
  readonly #sizes = new Map<string, number>();
  #oversized = new Set<string>();
  /** Reasons already logged for Services that are not served, or only partly. */
  readonly #reasons = new Map<string, string>();

  constructor({ settings, logger }: ServicesModelOptions) {
    this.#settings = settings;
    this.#logger = logger;
  }

  get node(): NodeFacts {
    return this.#settings.node;
  }

  setNode(node: NodeFacts): void {
    this.#settings = { ...this.#settings, node };
    for (const key of this.#services.keys()) this.#marked.add(key);
  }

  putService(service: ServiceObject): void {
    if (!isProxied(service)) return this.removeService(service);
    this.#services.set(keyOf(service), service);
    this.#marked.add(keyOf(service));
  }

  removeService(service: ServiceObject): void {
    this.#services.delete(keyOf(service));
    this.#marked.add(keyOf(service));
  }

  putSlice(slice: EndpointSlice): void {
    this.removeSlice(slice);
    const name = slice.metadata.labels?.[SERVICE_NAME_LABEL];
    if (name === undefined || !isProxied(slice)) return;
    const key = `${slice.metadata.namespace}/${name}`;
    const slices = this.#slices.get(key) ?? new Map<string, EndpointSlice>();
    slices.set(keyOf(slice), slice);
    this.#slices.set(key, slices);
    this.#serviceOfSlice.set(keyOf(slice), key);
    this.#marked.add(key);
  }

  removeSlice(slice: EndpointSlice): void {
    const key = this.#serviceOfSlice.get(keyOf(slice));
    if (key === undefined) return;
    this.#serviceOfSlice.delete(keyOf(slice));
    const slices = this.#slices.get(key)!;
    slices.delete(keyOf(slice));
    if (slices.size === 0) this.#slices.delete(key);
    this.#marked.add(key);
  }

  /** Updates the ledger with the rules of the marked Services. Returns how their UDP frontends changed. */
  refresh(): UdpChange {
    const change = noUdpChange();
    this.#measure();
    for (const key of this.#marked) {
      const before = this.#computed.get(key);
      const after = this.#compute(key, before);
      for (const [id, frontend] of before?.udp ?? []) change.before.set(id, frontend);
      for (const [id, frontend] of after?.udp ?? []) change.after.set(id, frontend);
    }
    this.#marked.clear();
    return change;
  }

  healthChecks(): HealthCheck[] {
    return [...this.#computed.values()].flatMap(({ health }) => health ?? []);
  }

  /** Decides which Services are too large, before creating any rules. */
  #measure(): void {
    if (this.#marked.size === 0) return;
    for (const key of this.#marked) {
      const service = this.#services.get(key);
      if (service === undefined) this.#sizes.delete(key);
      else this.#sizes.set(key, serviceSize(this.#portsOf(service), this.#slicesOf(key), this.#settings.node));
    }
    const before = this.#oversized;
    this.#oversized = oversized(this.#sizes);
    for (const key of [...before, ...this.#oversized])
      if (before.has(key) !== this.#oversized.has(key)) this.#marked.add(key);
  }

  get #reserved(): ReservedAddresses {
    const { reservedCidrs, addresses } = this.#settings.node;
    return { cidrs: reservedCidrs, balanced: addresses };
  }

  #portsOf(service: ServiceObject): ServicePort[] {
    return servicePortsOf(withoutReserved(service, this.#reserved).service);
  }

  #slicesOf(key: string): EndpointSlice[] {
    return [...(this.#slices.get(key)?.values() ?? [])];
  }

  #compute(key: string, before: Computed | undefined): Computed | undefined {
    const service = this.#services.get(key);
    const owner: RuleOwner = { key, rank: `${service?.metadata.creationTimestamp ?? ''} ${key}` };
    try {
      if (service !== undefined) {
        const computed = this.#rulesOfService(service, owner, before?.order);
        this.#computed.set(key, computed);
        return computed;
      }
    } catch (error) {
      this.#logger.warn({ service: key, error: errorMessage(error) }, 'cannot compute the rules of a service');
    }
    this.#computed.delete(key);
    if (service === undefined) this.#reasons.delete(key);
    this.ledger.replace(owner, undefined);
    return undefined;
  }

  #rulesOfService(service: ServiceObject, owner: RuleOwner, orderBefore = new Map<string, string[]>()): Computed {
    const { node } = this.#settings;
    this.#report(owner.key, this.#reasonsOf(service, owner.key));
    const ports = this.#oversized.has(owner.key) ? [] : this.#portsOf(service);
    const slices = slicesByPort(this.#slicesOf(owner.key), ports);
    const computed: Computed = { udp: new Map(), health: undefined, order: new Map() };
    const all: ServiceRules = { elements: [], chains: [], sets: [], frontends: [] };
    const localAddresses = new Set<string>();
    for (const port of ports) {
      const endpoints = endpointsOf(slices.get(portId(port)) ?? [], port, node.name);
      const chosen = chooseEndpoints(endpoints, policiesOf(port), node);
      const arrange = (policy: Policy) =>
        arranged(computed.order, orderBefore, { policy, port, endpoints: chosen[policy] });
      const arrangement = { ...chosen, cluster: arrange('cluster'), local: arrange('local') };
      const rules = rulesOf(port, arrangement, this.#settings);
      for (const element of rules.elements) all.elements.push(element);
      all.chains.push(...rules.chains);
      all.sets.push(...rules.sets);
      if (port.protocol === 'UDP') addUdp(computed.udp, rules.frontends, endpoints);
      for (const { isLocal, isReady, address } of endpoints) if (isLocal && isReady) localAddresses.add(address);
    }
    this.ledger.replace(owner, all);
    computed.health = healthCheckOf(service, localAddresses.size);
    return computed;
  }

  /** Returns why a Service is not served, or only partly. */
  #reasonsOf(service: ServiceObject, key: string): string | undefined {
    const { refused } = withoutReserved(service, this.#reserved);
    const addresses = `external addresses that belong to the cluster or the node: ${refused.slice(0, 5)}`;
    const size = 'its ports, addresses and endpoints, or those of all Services, need too many rules';
    const reasons = [...(refused.length > 0 ? [addresses] : []), ...(this.#oversized.has(key) ? [size] : [])];
    return reasons.length === 0 ? undefined : reasons.join('; ');
  }

  /** Logs once why a Service is not served, or only partly. */
  #report(service: string, reason: string | undefined): void {
    if (reason !== undefined && reason !== this.#reasons.get(service))
      this.#logger.warn({ service, reason }, 'a service is not served at all of its addresses');
    if (reason === undefined) this.#reasons.delete(service);
    else this.#reasons.set(service, reason);
  }
}

function arranged(
  after: Map<string, string[]>,
  before: ReadonlyMap<string, string[]>,
  { policy, port, endpoints }: { policy: Policy; port: ServicePort; endpoints: Endpoint[] },
): Endpoint[] {
  const id = `${policy} ${port.version} ${port.protocol} ${port.port}`;
  const order = arrangeEndpoints(before.get(id) ?? [], endpoints);
  after.set(id, order.map(endpointKey));
  return order;
}

function addUdp(udp: Map<string, UdpFrontend>, frontends: Frontend[], endpoints: Endpoint[]): void {
  const serving = new Set(endpoints.filter(({ isServing }) => isServing).map(endpointKey));
  for (const frontend of frontends) {
    const { version, address, port } = frontend;
    udp.set(`${version} ${address} ${port}`, { ...frontend, endpoints: serving });
  }
}

const keyOf = ({ metadata }: { metadata: { namespace?: string; name?: string } }): string =>
  `${metadata.namespace}/${metadata.name}`;
