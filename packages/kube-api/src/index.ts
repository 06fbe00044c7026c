export { defaultPullPolicy } from './defaults/container-defaults.ts';
export { applyDefaults, completeEphemeral } from './defaults/defaults.ts';
export { completePodResources } from './defaults/pod-level-defaults.ts';
export {
  MAX_EVENT_MESSAGE_LENGTH,
  MAX_SIMILAR_EVENTS,
  SIMILAR_EVENTS_WINDOW_MS,
} from './events/event-limits.ts';
export {
  type EventRecorder,
  type EventSubject,
  eventSubject,
  nodeSubject,
  type RecordedEvent,
} from './events/event-recorder.ts';
export { PodEvents } from './events/pod-events.ts';
export { type FieldPath, formatFieldPath, IssueList } from './issue.ts';
export type { PlacedObject, PlacedOther } from './manifest/decode-part.ts';
export { type Finding, ObjectFindings } from './manifest/finding.ts';
export { holdsWithApi, ignoredFields } from './manifest/ignored-fields.ts';
export { immutableProblems } from './manifest/immutable.ts';
export {
  type DecodedManifest,
  decodeManifest,
  decodeManifests,
  type ManifestText,
  withoutDuplicates,
} from './manifest/manifest.ts';
export { ManifestError } from './manifest/manifest-errors.ts';
export { MAX_API_MANIFEST_BYTES, MAX_MANIFEST_BYTES } from './manifest/manifest-parts.ts';
export { NO_TEXT, textOfManifest } from './manifest/manifest-text.ts';
export type { OtherObject } from './manifest/other-objects.ts';
export { absentObject } from './objects/absent-object.ts';
export { pathOf } from './objects/api-path.ts';
export { appArmorProfile, wantsAppArmor } from './objects/app-armor.ts';
export { claimStatusesOf, isClaimed } from './objects/claim-statuses.ts';
export { findCondition, isConditionTrue } from './objects/conditions.ts';
export {
  type Container,
  type ContainerPort,
  type EnvFromSource,
  type EnvVar,
  type EnvVarSource,
  type EphemeralContainer,
  type FileKeySelector,
  isSidecar,
  type KeySelector,
  type MountPropagation,
  type PullPolicy,
  type ResourceList,
  type ResourceRequirements,
  type VolumeMount,
} from './objects/container.ts';
export { attachmentName, CSI_PLUGIN, type CsiVolumeId, uniqueVolumeName } from './objects/csi-names.ts';
export { completeEvent, type Event, type EventType, eventSelector, type ReceivedEvent } from './objects/event.ts';
export type { KubeMetadata, KubeObject, Resource } from './objects/kube-object.ts';
export { matchesEveryLabel, matchesLabelSelector } from './objects/label-selector.ts';
export type { Lease } from './objects/lease.ts';
export type {
  ConfigMap,
  LocalObject,
  ManifestObject,
  PersistentVolumeClaim,
  RuntimeClass,
  Secret,
  VolumeAccessMode,
} from './objects/local-object.ts';
export {
  type LocalObjectChange,
  type LocalObjectEvent,
  type LocalObjectKind,
  type LocalObjectOf,
  LocalObjects,
  localObjectKey,
  type ObjectLookup,
  type PodObjects,
} from './objects/local-objects.ts';
export type {
  Node,
  NodeAddress,
  NodeCondition,
  NodeImage,
  NodeRuntimeHandler,
  NodeStatus,
  NodeSystemInfo,
  Taint,
} from './objects/node.ts';
export type { ObjectMeta, OwnerReference } from './objects/object-meta.ts';
export type {
  BoundClaim,
  BoundVolume,
  ClaimCondition,
  ClaimStatus,
  PersistentVolume,
} from './objects/persistent-volume.ts';
export {
  allContainers,
  everyContainer,
  type HostAlias,
  namespacedName,
  type Pod,
  type PodSpec,
  sidecarsOf,
  type Toleration,
} from './objects/pod.ts';
export type {
  AllocatedResourceStatus,
  ConditionStatus,
  ContainerState,
  ContainerStateTerminated,
  ContainerStatus,
  PodCondition,
  PodPhase,
  PodStatus,
  QosClass,
} from './objects/pod-status.ts';
export type { HttpGetAction, HttpHeader, IntOrString, LifecycleHandler, Probe } from './objects/probe.ts';
export type { ContainerClaim, PodResourceClaim, ResourceClaim } from './objects/resource-claim.ts';
export {
  couldRestartAllContainers,
  hasFailedToPrepare,
  restartsAfter,
  restartsAllContainers,
  restartsWhenKilled,
} from './objects/restart-policy.ts';
export type {
  Affinity,
  LabelSelector,
  NodeAffinity,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  TopologySpreadConstraint,
} from './objects/scheduling.ts';
export type {
  PodSecurityContext,
  SecurityContext,
  SecurityProfile,
  SeLinuxOptions,
} from './objects/security-context.ts';
export type { Service } from './objects/service.ts';
export type {
  CsiDriver,
  CsiNode,
  CsiNodeDriver,
  CsiTokenRequest,
  VolumeAttachment,
  VolumeLifecycleMode,
} from './objects/storage.ts';
export type {
  ConfigMapProjection,
  DownwardApiFile,
  HostPathType,
  KeyToPath,
  ResourceFieldSelector,
  SecretProjection,
  ServiceAccountTokenProjection,
  Volume,
  VolumeProjection,
} from './objects/volume.ts';
export { apiReference } from './pods/api-references.ts';
export { ANY_ADDRESS, type HostPort, hostPorts, portsConflict, portText, takenPort } from './pods/host-ports.ts';
export { matchesTerm, type SelectableNode, wantsNode } from './pods/node-affinity.ts';
export {
  type AmountKind,
  containerAmount,
  containersAmount,
  containersAmountNames,
  hasPodLevelResources,
  isHugePages,
  isPodLevelResource,
  podLevelAmount,
  resourcesKey,
  withPodLimits,
} from './pods/pod-amounts.ts';
export { isCriticalPod, isNodeCriticalPod, podPriority, SYSTEM_CRITICAL_PRIORITY } from './pods/pod-priority.ts';
export { podReferences } from './pods/pod-references.ts';
export { podSummary } from './pods/pod-summary.ts';
export { amountOf, inUnits, overheadOf, podRequest, podTotals, type ResourceAmounts } from './pods/pod-totals.ts';
export {
  CONFIG_CONTENT_ANNOTATION,
  CONFIG_FILE_ANNOTATION,
  CONFIG_HASH_ANNOTATION,
  CONFIG_MIRROR_ANNOTATION,
  CONFIG_SEEN_ANNOTATION,
  CONFIG_SOURCE_ANNOTATION,
  type ExistingPod,
  isStaticPod,
  type PodSourceName,
  type PodUpdate,
  type PodUpdateOperation,
  seenAt,
} from './pods/pod-update.ts';
export { qosClass } from './pods/qos-class.ts';
export { unresizable } from './pods/resizable.ts';
export { storageClassOf } from './pods/storage-class-of.ts';
export { toleratesTaint } from './pods/tolerations.ts';
export { ephemeralContainer, resources } from './schema/container-schema.ts';
export {
  anything,
  boolean,
  type Decoder,
  integer,
  list,
  mapOf,
  object,
  oneOf,
  quantity,
  string,
  UNSUPPORTED,
} from './schema/decoder.ts';
export { isNodeKind } from './schema/kinds.ts';
export { pod } from './schema/pod-schema.ts';
export { goQuote } from './text/go-quote.ts';
export { readYamlDocuments, type YamlDocument } from './text/yaml-documents.ts';
export { validateEphemeralContainers } from './validation/ephemeral.ts';
export { parseSubscript } from './validation/field-refs.ts';
export { dnsLabel, dnsSubdomain, labelValue, objectUid, qualifiedName, shortestPath } from './validation/names.ts';
export { isExtendedResource } from './validation/resources.ts';
export { differenceOf, formatCpus, intersectionOf, isSameSet, parseCpus, unionOf } from './values/cpu-set.ts';
export { parseGoDuration } from './values/go-duration.ts';
export { humanDuration } from './values/human-duration.ts';
export {
  canonicalName,
  type ImageReference,
  nameProblem,
  parseImageReference,
  withDefaultTag,
  withoutTag,
} from './values/image-reference.ts';
export {
  compareQuantities,
  formatQuantity,
  isQuantity,
  parseQuantity,
  quantityInUnitsOf,
  quantityMilliValue,
  quantityValue,
  roundUpToMilli,
} from './values/quantity.ts';
export { dottedSysctl } from './values/sysctl.ts';
export { formatDuration, formatMicroTime, formatTime } from './values/time.ts';
