import type { ApiObject } from '../api-object.ts';

export type IpFamily = 'IPv4' | 'IPv6';

/**
 * Allocates cluster IPs, node ports and health check ports of services. The registry calls it between the strategy's preparation and
 * validation of a create or update; `chooseIpFamilies` decides which cluster IPs a service needs.
 */
export type ServiceAllocator = {
  /** The families of the service IP ranges, with the default one first. */
  readonly ipFamilies: readonly [IpFamily, ...IpFamily[]];
  /** `old` is undefined for a new service. A dry run reserves nothing. Throws an ApiError if a value is taken or none is free. */
  allocate: (service: ApiObject, old: ApiObject | undefined, options: { dryRun: boolean }) => ServiceAllocation;
  /** Releases all values of a deleted service. */
  release: (service: ApiObject) => void;
};

/** Exactly one of the two functions is called, after the write succeeded or failed. */
export type ServiceAllocation = {
  /** The service with its allocated values. */
  service: ApiObject;
  /** Releases the values that the old service has, and the new one does not. */
  commit: () => void;
  /** Releases the values that were reserved for the new service. */
  revert: () => void;
};
