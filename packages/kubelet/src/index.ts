export { CgroupClaim } from './cgroups/cgroup-claim.ts';
export { ManifestDirectory, type ManifestDirectoryOptions } from './config/manifest-directory.ts';
export { ManifestUrl, type ManifestUrlOptions } from './config/manifest-url.ts';
export { existingPod, PodConfig, type PodConfigOptions, type SourceSnapshot } from './config/pod-config.ts';
export { checkedConfiguration } from './configuration/check-configuration.ts';
export { flagHelp, flagValues, type OwnFlag, parseCommandLine } from './configuration/command-line.ts';
export { isKubeletConfiguration, readConfigurationFile } from './configuration/configuration-file.ts';
export { readDropIns } from './configuration/drop-ins.ts';
export type { KubeletConfiguration } from './configuration/fields/field-table.ts';
export { type GivenFields, layFields, layFlags } from './configuration/given-fields.ts';
export {
  type KubeletServerOptions,
  kubeletServerOptions,
  type ServerAuthentication,
  type ServerReviews,
  type ServerTls,
  type TlsVersion,
} from './configuration/server-options.ts';
export { DEFAULT_HARD_THRESHOLDS, thresholdProblems } from './eviction/thresholds/thresholds.ts';
export { DEFAULT_EVICTION, type EvictionOptions } from './eviction-options.ts';
export { entriesFor, parseDockerConfig, type RegistryCredential } from './images/keyring.ts';
export type { Kubelet, PodDefaults, StreamOptions } from './kubelet.ts';
export type { LegacyLogs } from './logs/container-logs.ts';
export { NOTHING_RESERVED, type SystemReserved } from './node/node-allocatable.ts';
export type { NodeObject } from './node/node-object.ts';
export type { ReservedCgroup } from './node/reserved-cgroup.ts';
export type { ResourcePolicy } from './node/resource-policy.ts';
export { logindProblem } from './node-shutdown/logind.ts';
export { shutdownPeriods } from './node-shutdown/shutdown-groups.ts';
export { type KubeletOptions, kubeletOptions } from './options.ts';
export type { PlacementOptions } from './placement-options.ts';
export { allFindings } from './preflight/host-findings.ts';
export { thisHost } from './preflight/preflight-host.ts';
export {
  type ServedKubeletApi,
  type ServeKubeletApiInput,
  serveKubeletApi,
} from './server/kubelet-api/serve-kubelet-api.ts';
export { serveWaiting } from './server/kubelet-api/serve-waiting.ts';
export type {
  ApplyOptions,
  ApplyResult,
  EventWatchEvent,
  ImageTransfer,
  NodeInfo,
  PodWatchEvent,
  RestartAnswer,
  StopOptions,
  WatchEvent,
} from './server/local-api.ts';
export { type LocalApiOptions, serveLocalApi } from './server/serve-local-api.ts';
export { type RuntimeWait, startKubelet } from './start-kubelet.ts';
export type { PodChange } from './status/status-manager.ts';
export type { TraceSpan } from './trace/pod-tracer.ts';
