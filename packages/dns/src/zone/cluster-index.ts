import type { KubeObject } from '@podwright/kube-api';
import { addressKey } from '../wire/addresses.ts';
import { type DnsEndpointSlice, type DnsService, SERVICE_NAME_LABEL } from './api-objects.ts';
import type { ClusterRecords, RelativeName, ServiceEntry } from './cluster-records.ts';
import { clusterAddresses, readyEndpoints, type SliceEndpoints, serviceEntry } from './service-entry.ts';

type IndexedService = { object: DnsService; entry: ServiceEntry | undefined };

/** Records built from API objects. The cost of a change depends on the size of the changed object, not of the cluster. */
export class ClusterIndex implements ClusterRecords {
  readonly domain: string;
  readonly serverAddresses: readonly string[];
  isComplete = false;
  #serial: number;
  readonly #namespaces = new Set<string>();
  readonly #services = new Map<string, IndexedService>();
  /** Ready endpoints by service, then by EndpointSlice. */
  readonly #slices = new Map<string, Map<string, SliceEndpoints>>();
  readonly #serviceOf = new Map<string, string>();
  readonly #serviceNames = new NamesByAddress();
  readonly #endpointNames = new NamesByAddress();

  constructor({ domain, serverAddresses }: { domain: string; serverAddresses: readonly string[] }) {
    this.domain = domain.toLowerCase();
    this.serverAddresses = serverAddresses;
    this.#serial = Math.floor(Date.now() / 1000);
  }

  get serial(): number {
    return this.#serial;
  }

  hasNamespace(namespace: string): boolean {
    return this.#namespaces.has(namespace);
  }

  service(namespace: string, name: string): ServiceEntry | undefined {
    const key = `${namespace}/${name}`;
    const service = this.#services.get(key);
    if (service === undefined) return undefined;
    service.entry ??= serviceEntry(service.object, this.#slices.get(key)?.values() ?? []);
    return service.entry;
  }

  /**
   * Returns the name of the service with this cluster IP or, if there is none, the names of the endpoints with this address, as in CoreDNS.
   */
  namesOf(key: string): readonly RelativeName[] {
    const names = this.#serviceNames.get(key);
    return names.length > 0 ? names.slice(0, 1) : this.#endpointNames.get(key);
  }

  setNamespace({ metadata }: KubeObject): void {
    this.#namespaces.add(metadata.name ?? '');
    this.#changed();
  }

  deleteNamespace({ metadata }: KubeObject): void {
    this.#namespaces.delete(metadata.name ?? '');
    this.#changed();
  }

  setService(object: DnsService): void {
    const key = keyOf(object);
    this.#services.set(key, { object, entry: undefined });
    const relative = relativeName(key);
    const isAlias = object.spec?.type === 'ExternalName';
    const addresses = isAlias ? [] : clusterAddresses(object.spec ?? {});
    this.#serviceNames.set(
      key,
      addresses.map((address) => [address, relative]),
    );
    this.#changed();
  }

  deleteService(object: DnsService): void {
    this.#services.delete(keyOf(object));
    this.#serviceNames.set(keyOf(object), []);
    this.#changed();
  }

  setSlice(slice: DnsEndpointSlice): void {
    this.deleteSlice(slice); // its label may have named another service
    const key = serviceKeyOf(slice);
    if (key === undefined) return;
    const slices = this.#slices.get(key) ?? new Map<string, SliceEndpoints>();
    const ready = readyEndpoints(slice);
    this.#slices.set(key, slices.set(keyOf(slice), ready));
    this.#serviceOf.set(keyOf(slice), key);
    this.#endpointNames.set(
      keyOf(slice),
      ready.endpoints.map(({ address, label }) => [address, `${label}.${relativeName(key)}`]),
    );
    this.#forgetEntry(key);
  }

  deleteSlice(slice: DnsEndpointSlice): void {
    const key = this.#serviceOf.get(keyOf(slice));
    if (key === undefined) return;
    this.#serviceOf.delete(keyOf(slice));
    this.#endpointNames.set(keyOf(slice), []);
    const slices = this.#slices.get(key);
    slices?.delete(keyOf(slice));
    if (slices?.size === 0) this.#slices.delete(key);
    this.#forgetEntry(key);
  }

  #forgetEntry(serviceKey: string): void {
    const service = this.#services.get(serviceKey);
    if (service !== undefined) service.entry = undefined;
    this.#changed();
  }

  /** Increases the zone's serial number. As in CoreDNS, it is the time of the last change, but here it increases with every change. */
  #changed(): void {
    this.#serial = Math.max(this.#serial + 1, Math.floor(Date.now() / 1000)) >>> 0;
  }
}

/**
 * Maximum number of owners (services or EndpointSlices) of an address to examine, and thus of names to return: any number of slices may
 * contain the address.
 */
const MAX_NAMES = 256;

/** Names by address. Each owner, a service or an EndpointSlice, replaces all of its names at once. */
class NamesByAddress {
  readonly #byAddress = new Map<string, Map<string, RelativeName>>();
  readonly #keysOf = new Map<string, string[]>();

  get(key: string): RelativeName[] {
    const names = new Set<RelativeName>();
    let count = 0;
    for (const name of this.#byAddress.get(key)?.values() ?? []) {
      if (++count > MAX_NAMES) break;
      names.add(name);
    }
    return [...names];
  }

  set(owner: string, named: readonly (readonly [address: string, name: RelativeName])[]): void {
    for (const key of this.#keysOf.get(owner) ?? []) {
      const names = this.#byAddress.get(key);
      names?.delete(owner);
      if (names?.size === 0) this.#byAddress.delete(key);
    }
    this.#keysOf.delete(owner);
    const keys = named.map(([address]) => addressKey(address)!);
    for (const [index, key] of keys.entries()) {
      const names = this.#byAddress.get(key) ?? new Map<string, RelativeName>();
      this.#byAddress.set(key, names.set(owner, named[index]![1]));
    }
    if (keys.length > 0) this.#keysOf.set(owner, keys);
  }
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

function relativeName(key: string): RelativeName {
  const [namespace = '', name = ''] = key.split('/');
  return `${name}.${namespace}.svc`;
}

function serviceKeyOf({ metadata }: DnsEndpointSlice): string | undefined {
  const name = metadata.labels?.[SERVICE_NAME_LABEL];
  return name === undefined ? undefined : `${metadata.namespace ?? ''}/${name}`;
}
