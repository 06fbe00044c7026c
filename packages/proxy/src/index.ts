export { freeRanges } from './addresses/free-ranges.ts';
export { findLeftClaims, type LeftClaim, removeLeftClaims } from './addresses/left-claims.ts';
export { ServiceAddresses } from './addresses/service-addresses.ts';
export { startNetworkPolicies } from './network-policies.ts';
export type { NetworkPolicyOptions, ProxyOptions, RunningProxy } from './proxy.ts';
export { startProxy } from './start-proxy.ts';
