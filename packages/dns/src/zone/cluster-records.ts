/** What the cluster's names are answered from. Names are lower case, as in the API. */

/** A port of a service or endpoint. Without a number, it has no SRV record. */
export type PortRecord = { name: string; protocol: string; port: number | undefined };

/** A ready endpoint. `label` is the name of the endpoint below that of the service. */
export type EndpointRecord = { label: string; address: string };

/** Endpoints, and the distinct numbers of those of their ports that a name is about. */
export type EndpointGroup = { endpoints: readonly EndpointRecord[]; numbers: readonly number[] };

/** What is known of a service, prepared so that the work for a question does not grow with the objects. */
export type ServiceEntry = {
  /** The cluster IPs; none if the service is headless or an alias. */
  addresses: readonly string[];
  isHeadless: boolean;
  /** The name that the service is an alias of. */
  externalName: string | undefined;
  /** Distinct numbers of the service's ports. */
  numbers: readonly number[];
  /** The numbers of the service's named ports, by their labels (see `portLabels`). */
  namedPorts: ReadonlyMap<string, readonly number[]>;
  /** Labels of the protocols, such as `_tcp`, of the named ports of the service and its endpoints. */
  protocols: ReadonlySet<string>;
  /** The endpoints with all their ports. */
  groups: readonly EndpointGroup[];
  /** The endpoints of each label, one in each group. */
  labels: ReadonlyMap<string, readonly EndpointGroup[]>;
  /** The endpoints that have a named port, by the labels of the port. */
  portGroups: ReadonlyMap<string, readonly EndpointGroup[]>;
  /** What was found for the service and its endpoints, by the label below the service: services may have thousands of endpoints. */
  found: Map<string, FoundName>;
};

/** Where an SRV record points: a name below the domain, and its addresses. */
export type ServiceTarget = { relative: RelativeName; addresses: readonly string[]; port: number };

/** Returns the first distinct targets of a name, at most `limit`. */
export type Targets = (limit: number) => readonly ServiceTarget[];

/** Distinct addresses by family. */
export type Addresses = { A: readonly string[]; AAAA: readonly string[] };

/**
 * What a name of the cluster has. `branch`: no record, but names below it exist. `service`: SRV records only. `addresses` has also SRV
 * records for services and endpoints, which are found by `targets`.
 */
export type FoundName =
  | { kind: 'apex' | 'version' | 'branch' }
  | { kind: 'addresses'; addresses: Addresses; targets: Targets }
  | { kind: 'alias'; target: string }
  | { kind: 'service'; targets: Targets };

/** A name below the cluster's domain without the domain, such as `web.default.svc`. */
export type RelativeName = string;

export interface ClusterRecords {
  /** The cluster's domain, such as `cluster.local`. */
  readonly domain: string;
  /** Grows with each change: the serial number of the zone. */
  readonly serial: number;
  /** Whether all objects have been read. Until then, a name that is not found may exist. */
  readonly isComplete: boolean;
  /** Addresses of the DNS server itself. */
  readonly serverAddresses: readonly string[];
  hasNamespace(namespace: string): boolean;
  service(namespace: string, name: string): ServiceEntry | undefined;
  /** The names of an address, given by its key (see `addressKey`). */
  namesOf(key: string): readonly RelativeName[];
}
