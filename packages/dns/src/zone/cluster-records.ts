/** What the cluster's names are answered from. Names are lower case, as in the API. */

/** A port of a service or endpoint. Without a number, it has no SRV record. */
export type PortRecord = { name: string; protocol: string; port: number | undefined };

/** A ready endpoint. `label` is the name of the endpoint below that of the service. */
export type EndpointRecord = { label: string; address: string; ports: readonly PortRecord[] };

export type ServiceEntry = {
  /** The cluster IPs; none if the service is headless or an alias. */
  addresses: readonly string[];
  isHeadless: boolean;
  /** The name that the service is an alias of. */
  externalName: string | undefined;
  ports: readonly PortRecord[];
  endpoints: readonly EndpointRecord[];
  /** What was found for the service and its ports, by the labels below the service: services may have thousands of endpoints. */
  found: Map<string, FoundName>;
};

/** Where an SRV record points: a name below the domain, and its addresses. */
export type ServiceTarget = { relative: RelativeName; addresses: readonly string[]; port: number };

/** Returns the distinct targets of a name. They are computed by the first call. */
export type Targets = () => readonly ServiceTarget[];

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
