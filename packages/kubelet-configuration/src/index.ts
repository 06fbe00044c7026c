export { checkedConfiguration } from './check-configuration.ts';
export { flagHelp, flagValues, type OwnFlag, parseCommandLine } from './command-line.ts';
export { completeConfiguration } from './complete-configuration.ts';
export { configurationDocument } from './configuration-document.ts';
export { isKubeletConfiguration, readConfigurationFile } from './configuration-file.ts';
export { configuredOptions } from './configured-options.ts';
export { readDropIns } from './drop-ins.ts';
export type { KubeletConfiguration } from './fields/field-table.ts';
export { type GivenFields, layFields, layFlags } from './given-fields.ts';
export { fieldsOfTable, KubeletTable, optionsOfTable } from './kubelet-table.ts';
export { CIPHER_SUITES } from './options/cipher-suites.ts';
export { type ConfigurableOptions, configurableOptions } from './options/configurable-options.ts';
export { DEFAULT_EVICTION, type EvictionOptions, thresholdSettings } from './options/eviction-options.ts';
export type { HostRequirements } from './options/host-requirements.ts';
export { type NodeSettings, nodeSettings } from './options/node-settings.ts';
export type { PlacementOptions } from './options/placement-options.ts';
export type { ReservedCgroup } from './options/reserved-cgroup.ts';
export { DEFAULT_RESOURCE_POLICY, type ResourcePolicy } from './options/resource-policy.ts';
export {
  type KubeletServerOptions,
  kubeletServerOptions,
  type ServerReviews,
  type ServerTls,
  type TlsVersion,
} from './options/server-options.ts';
export { type ShutdownPeriod, shutdownPeriods } from './options/shutdown-periods.ts';
export { NOTHING_RESERVED, type SystemReserved } from './options/system-reserved.ts';
export { type DiskLayout, withContainerFs } from './thresholds/disk-layout.ts';
export {
  type Judgement,
  judgeThresholds,
  NOTHING_MET,
  type ThresholdMemory,
} from './thresholds/judge-thresholds.ts';
export { NodePressure } from './thresholds/node-pressure.ts';
export {
  availableText,
  missingOf,
  type Observation,
  type Observations,
  thresholdInWords,
  thresholdsMet,
  usedOf,
} from './thresholds/observed-signals.ts';
export {
  conditionOf,
  isInBytes,
  isOfDisk,
  isOfMemory,
  type PressureCondition,
  resourceOf,
  type Signal,
  type StarvedResource,
} from './thresholds/signals.ts';
export {
  amountOf,
  amountText,
  binaryText,
  DEFAULT_HARD_THRESHOLDS,
  isHard,
  STANDALONE_HARD_THRESHOLDS,
  type Threshold,
  type ThresholdSettings,
  thresholdProblems,
  thresholdsOf,
  thresholdValue,
  valueText,
} from './thresholds/thresholds.ts';
export { needsVerification, type VerificationPolicy } from './verification-policy.ts';
