import type { ApiObject } from '../api-object.ts';

export type IpFamily = 'IPv4' | 'IPv6';

/**
 * Allocates services' cluster IPs, node ports and health check node ports. On a create or update, the registry calls it after the strategy
 * has prepared the service and before the strategy validates it. `chooseIpFamilies` decides which cluster IPs a service needs.
 */
export type ServiceAllocator = {
  /** The IP families of the service IP ranges, the default one first. */
  readonly ipFamilies: readonly [IpFamily, ...IpFamily[]];
  /**
   * Allocates a service's values. `old` is undefined for a new service. A dry run reserves nothing. Throws an ApiError if a requested value
   * is taken or no value is free.
   */
  allocate: (service: ApiObject, old: ApiObject | undefined, options: { dryRun: boolean }) => ServiceAllocation;
  /** Releases all values of a deleted service. */
  release: (service: ApiObject) => void;
};

/** The result of an allocation. Exactly one of `commit` and `revert` must be called, once the write has succeeded or failed. */
export type ServiceAllocation = {
  /** The service with its allocated values. */
  service: ApiObject;
  /** Releases the values that the old service has but the new one does not. */
  commit: () => void;
  /** Releases the values that were reserved for the new service. */
  revert: () => void;
};
