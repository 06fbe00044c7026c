export { type FieldPath, formatFieldPath } from './api/issue.ts';
export { podSummary } from './api/pod-summary.ts';
export * from './api/quantity.ts';
export * from './api/types.ts';
export type { CertificatePair } from './certificates/certificate-pair.ts';
export { openNodeIdentity } from './certificates/node-identity.ts';
export { kubeconfigText } from './certificates/node-kubeconfig.ts';
export { startServingCertificate } from './certificates/serving-certificate.ts';
export type { Finding } from './config/finding.ts';
export * from './config/local-objects.ts';
export * from './config/manifest.ts';
export * from './config/manifest-directory.ts';
export { NO_TEXT, textOfManifest } from './config/manifest-text.ts';
export * from './config/manifest-url.ts';
export * from './config/pod-config.ts';
export * from './config/pod-update.ts';
export { checkedConfiguration } from './configuration/check-configuration.ts';
export { flagHelp, flagValues, type OwnFlag, parseCommandLine } from './configuration/command-line.ts';
export { isKubeletConfiguration, readConfigurationFile } from './configuration/configuration-file.ts';
export { readDropIns } from './configuration/drop-ins.ts';
export type { KubeletConfiguration } from './configuration/fields/field-table.ts';
export { parseGoDuration } from './configuration/fields/go-duration.ts';
export { type GivenFields, layFields, layFlags } from './configuration/given-fields.ts';
export * from './configuration/server-options.ts';
export { parseImageReference } from './images/image-reference.ts';
export { entriesFor, parseDockerConfig, type RegistryCredential } from './images/keyring.ts';
export type { Kubelet, PodDefaults, StreamOptions } from './kubelet.ts';
export type { LegacyLogs } from './logs/container-logs.ts';
export { NOTHING_RESERVED, type SystemReserved } from './node/node-allocatable.ts';
export type { NodeObject } from './node/node-object.ts';
export type { ReservedCgroup } from './node/reserved-cgroup.ts';
export type { ResourcePolicy } from './node/resource-policy.ts';
export { type KubeletOptions, kubeletOptions } from './options.ts';
export { preflight } from './preflight/preflight.ts';
export { thisHost } from './preflight/preflight-host.ts';
export {
  type ServedKubeletApi,
  type ServeKubeletApiInput,
  serveKubeletApi,
} from './server/kubelet-api/serve-kubelet-api.ts';
export { serveWaiting } from './server/kubelet-api/serve-waiting.ts';
export * from './server/local-api.ts';
export { type LocalApiOptions, serveLocalApi } from './server/serve-local-api.ts';
export { type RuntimeWait, startKubelet } from './start-kubelet.ts';
export type { PodChange } from './status/status-manager.ts';
export type { TraceSpan } from './trace/pod-tracer.ts';
