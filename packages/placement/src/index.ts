export { CpuManager } from './cpus/cpu-manager.ts';
export { type CpuPolicyOptions, cpuOptionProblems, cpuOptions, NO_CPU_OPTIONS } from './cpus/cpu-options.ts';
export { readCpuState } from './cpus/cpu-state.ts';
export { exclusiveCpus } from './cpus/exclusive-cpus.ts';
export { KnownCpus, type RunningContainer, reconcileCpus } from './cpus/reconcile-cpus.ts';
export { countOf } from './cpus/take-cpus.ts';
export { DeviceManager } from './devices/device-manager.ts';
export type { DeviceHealthListener } from './devices/device-plugins.ts';
export { type ContainerDeviceOptions, NO_NODE } from './devices/device-types.ts';
export { cdiDevices, claimHealth, claimsOfContainer } from './dra/claim-devices.ts';
export type { ClaimRecord } from './dra/claim-records.ts';
export { DraHealth } from './dra/device-health.ts';
export { DraClaims } from './dra/dra-claims.ts';
export { DraDrivers } from './dra/dra-drivers.ts';
export { SliceWiper } from './dra/wipe-slices.ts';
export { MemoryManager } from './memory/memory-manager.ts';
export { memoryRequest } from './memory/memory-requests.ts';
export { readMemoryState } from './memory/memory-state.ts';
export { MAX_PLUGIN_ANSWER_BYTES, VOLUME_BACKOFF } from './plugins/limits.ts';
export type { Plugin, PluginHandler, PluginHandlers } from './plugins/plugin-handler.ts';
export { PluginRegistry } from './plugins/plugin-registry.ts';
export {
  type ListedClaim,
  type ListedDevices,
  type ListedResources,
  servePodResources,
} from './pod-resources/serve-pod-resources.ts';
export { type Machine, readMachine } from './topology/machine.ts';
export type { TopologyPolicy } from './topology/merge-hints.ts';
export { type PlacementMetrics, placementMetrics } from './topology/placement-metrics.ts';
export { ResourceAdmission, type TopologySettings } from './topology/resource-admission.ts';
export type { AllocationRequest, HintProvider } from './topology/topology-hint.ts';
export {
  NO_TOPOLOGY_OPTIONS,
  type TopologyPolicyOptions,
  topologyOptionProblems,
  topologyOptions,
} from './topology/topology-options.ts';
