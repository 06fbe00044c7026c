/** The data from which the cluster's names are answered. Names are in lower case, as in the API. */

/** A port of a service or endpoint. A port without a number has no SRV record. */
export type PortRecord = { name: string; protocol: string; port: number | undefined };

/** A ready endpoint. `label` is the label of the endpoint's name, under the service's name. */
export type EndpointRecord = { label: string; address: string };

/** Endpoints, and the distinct numbers of their ports that are relevant to a name. */
export type EndpointGroup = { endpoints: readonly EndpointRecord[]; numbers: readonly number[] };

/** A service, indexed so that the cost of answering a question does not grow with the number of its ports and endpoints. */
export type ServiceEntry = {
  /** The cluster IPs; none if the service is headless or an alias. */
  addresses: readonly string[];
  isHeadless: boolean;
  /** The name that the service is an alias of (type ExternalName). */
  externalName: string | undefined;
  /** Distinct port numbers of the service. */
  numbers: readonly number[];
  /** The service's named ports, by their labels (see `portLabels`). */
  namedPorts: ReadonlyMap<string, readonly number[]>;
  /** Protocol labels, such as `_tcp`, of the named ports of the service and its endpoints. */
  protocols: ReadonlySet<string>;
  /** All endpoints of the service, with all of their ports. */
  groups: readonly EndpointGroup[];
  /** The service's endpoints by label, each in a group of its own. */
  labels: ReadonlyMap<string, readonly EndpointGroup[]>;
  /** The endpoints that have a given named port, by the port's labels. */
  portGroups: ReadonlyMap<string, readonly EndpointGroup[]>;
  /** Cached lookups for the service and its endpoints, by label under the service's name: a service may have thousands of endpoints. */
  found: Map<string, FoundName>;
};

/** The target of an SRV record: a name relative to the cluster's domain, and its addresses. */
export type ServiceTarget = { relative: RelativeName; addresses: readonly string[]; port: number };

/** Returns the first `limit` distinct targets of a name. */
export type Targets = (limit: number) => readonly ServiceTarget[];

/** Distinct IP addresses by family. */
export type Addresses = { A: readonly string[]; AAAA: readonly string[] };

/**
 * The result of looking up a name of the cluster. `branch`: has no records, but has subdomains. `service`: has SRV records only.
 * `addresses`: has addresses and, for services and endpoints, also SRV records for `targets`.
 */
export type FoundName =
  | { kind: 'apex' | 'version' | 'branch' }
  | { kind: 'addresses'; addresses: Addresses; targets: Targets }
  | { kind: 'alias'; target: string }
  | { kind: 'service'; targets: Targets };

/** A name relative to the cluster's domain, such as `web.default.svc`. */
export type RelativeName = string;

export interface ClusterRecords {
  /** The cluster's domain, such as `cluster.local`. */
  readonly domain: string;
  /** The zone's serial number, which increases with each change. */
  readonly serial: number;
  /** Whether all objects have been read. Until then, a name that is not found might still exist. */
  readonly isComplete: boolean;
  /** Addresses of the DNS server itself. */
  readonly serverAddresses: readonly string[];
  hasNamespace(namespace: string): boolean;
  service(namespace: string, name: string): ServiceEntry | undefined;
  /** Returns the names of an address, given its key (see `addressKey`). */
  namesOf(key: string): readonly RelativeName[];
}
