import { type Allocation, internalError, type ObjectStore, type StoredObject } from '@podwright/api-machinery';
import {
  type ApiObject,
  chooseIpFamilies,
  type FieldError,
  invalidValue,
  numberAt,
  objectsAt,
  textAt,
  textsAt,
  withItems,
  withValue,
} from '@podwright/kube-kinds';
import type { AddressRange } from './address-range.ts';
import { chooseNodePort, isNodePort, PORT_RANGE } from './port-range.ts';
import {
  clusterIpsOf,
  hasNodePorts,
  isHeadless,
  nodePortsOf,
  type ServiceValues,
  typeOf,
  usedBy,
  valuesOf,
} from './service-values.ts';

/**
 * Assigns cluster IPs and node ports to services. The stored services are the only record of assigned values; values of services being
 * written are reserved until the write has ended.
 */
export class ServiceAllocator {
  readonly #store: ObjectStore;
  readonly #ranges: readonly [AddressRange, ...AddressRange[]];
  /**
   * UID, cluster IPs and node ports of services whose writes are not finished. Cached, because many writes might be waiting for admission
   * webhooks.
   */
  readonly #reserved = new Map<ApiObject, ServiceValues>();
  /**
   * UID, cluster IPs and node ports of stored services. Cached, because decoding services with thousands of ports on every write would take
   * seconds.
   */
  readonly #known = new WeakMap<StoredObject, ServiceValues>();

  /** `ranges`: one range of cluster IPs, or one per IP family. The family of the first range is the default for services. */
  constructor(store: ObjectStore, ranges: readonly [AddressRange, ...AddressRange[]]) {
    this.#store = store;
    this.#ranges = ranges;
  }

  /**
   * Allocates cluster IPs and node ports for a prepared service, before its validation. Throws an `ApiError` if no address or port is free.
   */
  allocate(given: ApiObject, old: ApiObject | undefined): Allocation {
    const { service, errors } = chooseIpFamilies(given, old, this.#families);
    if (errors.length > 0) return { object: service, errors, end: () => {} };
    const stored = this.#store.list('services').objects.map((object) => this.#valuesOf(object));
    const used = usedBy([...stored, ...this.#reserved.values()], service.metadata.uid);
    const addressed = this.#withClusterIps(service, used.ips);
    if (addressed.errors.length > 0) return { ...addressed, end: () => {} };
    const { object, errors: ofPorts } = withNodePorts(addressed.object, used.ports);
    this.#reserved.set(object, valuesOf(object));
    return { object, errors: ofPorts, end: () => void this.#reserved.delete(object) };
  }

  #valuesOf(object: StoredObject): ServiceValues {
    const known = this.#known.get(object) ?? valuesOf(object.decode());
    this.#known.set(object, known);
    return known;
  }

  get #families(): readonly [AddressRange['family'], ...AddressRange['family'][]] {
    const [first, ...more] = this.#ranges;
    return [first.family, ...more.map(({ family }) => family)];
  }

  /** Checks the cluster IPs requested by the client, and assigns one for each IP family of the service for which none is requested. */
  #withClusterIps(service: ApiObject, used: ReadonlySet<string>): Assigned {
    if (typeOf(service) === 'ExternalName' || isHeadless(service)) return { object: service, errors: [] };
    const given = clusterIpsOf(service);
    const errors = given.flatMap((ip) => this.#problems(service, ip, used));
    if (errors.length > 0) return { object: service, errors };
    const families = textsAt(service, 'spec', 'ipFamilies');
    const chosen = families.slice(given.length).map((family) => this.#choose(family, used));
    if (chosen.length === 0) return { object: service, errors: [] };
    const ips = [...given, ...chosen];
    return {
      object: withValue(withValue(service, ['spec', 'clusterIP'], ips[0]), ['spec', 'clusterIPs'], ips),
      errors: [],
    };
  }

  /** Returns a free address of an IP family. Throws `ApiError` if there is none. */
  #choose(family: string, used: ReadonlySet<string>): string {
    const ip = this.#ranges.find((range) => range.family === family)?.choose((one) => used.has(one));
    if (ip === undefined) throw internalError('failed to allocate a serviceIP: range is full');
    return ip;
  }

  #problems(service: ApiObject, ip: string, used: ReadonlySet<string>): FieldError[] {
    const refuse = (reason: string) => [
      invalidValue('spec.clusterIPs', textsAt(service, 'spec', 'clusterIPs'), `failed to allocate IP ${ip}: ${reason}`),
    ];
    if (used.has(ip)) return refuse('provided IP is already allocated');
    if (this.#ranges.some((range) => range.includes(ip))) return [];
    const range = this.#ranges.find(({ family }) => family === familyOf(ip)) ?? this.#ranges[0];
    return refuse(`the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${range.cidr}`);
  }
}

const familyOf = (ip: string): AddressRange['family'] => (ip.includes(':') ? 'IPv6' : 'IPv4');

type Assigned = { object: ApiObject; errors: FieldError[] };

function withNodePorts(service: ApiObject, used: ReadonlySet<number>): Assigned {
  if (!hasNodePorts(service)) return { object: service, errors: [] };
  const errors = portProblems(service, used);
  const own = new Set(nodePortsOf(service));
  const choose = (): number => {
    const port = chooseNodePort((one) => used.has(one) || own.has(one));
    if (port === undefined) throw internalError('failed to allocate a nodePort: range is full');
    own.add(port);
    return port;
  };
  const needsPorts = typeOf(service) === 'NodePort' || allocatesForBalancer(service);
  const object = needsPorts ? withChosenPorts(service, choose) : service;
  if (!needsHealthCheck(object) || numberAt(object, 'spec', 'healthCheckNodePort')) return { object, errors };
  return { object: withValue(object, ['spec', 'healthCheckNodePort'], choose()), errors };
}

/** Assigns node ports to the service's ports that have none. Ports with the same number but different protocols get the same node port. */
function withChosenPorts(service: ApiObject, choose: () => number): ApiObject {
  const chosen = new Map<number, number>();
  for (const port of objectsAt(service, 'spec', 'ports')) {
    const nodePort = numberAt(port, 'nodePort') ?? 0;
    if (nodePort !== 0) chosen.set(numberAt(port, 'port') ?? 0, nodePort);
  }
  const taken = new Set<string>();
  return withItems(service, ['spec', 'ports'], (port) => {
    const number = numberAt(port, 'port') ?? 0;
    const protocol = textAt(port, 'protocol');
    const shared = chosen.get(number);
    const nodePort =
      numberAt(port, 'nodePort') || (shared !== undefined && !taken.has(`${shared} ${protocol}`) ? shared : choose());
    chosen.set(number, nodePort);
    taken.add(`${nodePort} ${protocol}`);
    return { ...port, nodePort };
  });
}

function portProblems(service: ApiObject, used: ReadonlySet<number>): FieldError[] {
  return objectsAt(service, 'spec', 'ports').flatMap((port, index) => {
    const nodePort = numberAt(port, 'nodePort') ?? 0;
    const refuse = (reason: string) => [invalidValue(`spec.ports[${index}].nodePort`, nodePort, reason)];
    if (nodePort === 0) return [];
    if (used.has(nodePort)) return refuse('provided port is already allocated');
    if (isNodePort(nodePort)) return [];
    return refuse(`provided port is not in the valid range. The range of valid ports is ${PORT_RANGE}`);
  });
}

const allocatesForBalancer = ({ spec }: ApiObject): boolean =>
  (spec as { allocateLoadBalancerNodePorts?: boolean }).allocateLoadBalancerNodePorts !== false;

const needsHealthCheck = (service: ApiObject): boolean =>
  typeOf(service) === 'LoadBalancer' && textAt(service, 'spec', 'externalTrafficPolicy') === 'Local';
