/** Feature gates accepted by the Kubernetes 1.36 kubelet (pkg/features and its libraries), and their effect in this kubelet. */
import { didYouMean } from '@podwright/base';

const names = (text: string) => text.trim().split(/\s+/);

/** Gates locked to true, followed by gates locked to false. Upstream rejects any other value. */
const LOCKED_ON = names(`
  APIServerTracing AggregatedDiscoveryRemoveBetaType AnonymousAuthConfigurableEndpoints AnyVolumeDataSource
  AuthorizeNodeWithSelectors AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions
  CRDValidationRatcheting CSIServiceAccountTokenSecrets ConsistentListFromCache CustomResourceFieldSelectors
  DRAAdminAccess DeclarativeValidation DisableAllocatorDualWrite DisableNodeKubeProxyVersion
  DynamicResourceAllocation ExecProbeTimeout ExternalServiceAccountTokenSigner ImageMaximumGCAge ImageVolume
  InOrderInformers InPlacePodVerticalScaling JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy
  JobSuccessPolicy KubeletCgroupDriverFromCRI KubeletFineGrainedAuthz KubeletPSI
  KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletTracing LogarithmicScaleDown
  MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator MutableCSINodeAllocatableCount NFTablesProxyMode
  NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap OrderedNamespaceDeletion PodLifecycleSleepAction
  PodLifecycleSleepActionAllowZero PodObservedGenerationTracking PodSchedulingReadiness
  PreferSameTrafficDistribution ProcMountType RecoverVolumeExpansionFailure RecursiveReadOnlyMounts
  RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization
  RetryGenerateName SELinuxChangePolicy SELinuxMountReadWriteOncePod SchedulerQueueingHints
  SeparateTaintEvictionController ServiceAccountTokenJTI ServiceAccountTokenNodeBinding
  ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo SidecarContainers
  StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration
  SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions UserNamespacesSupport
  VolumeAttributesClass WinDSR WinOverlay
`);
const LOCKED_OFF = names(`
  AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC
`);

/** Gates that default to true, followed by gates that default to false. */
const ON = names(`
  APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AllowServiceExternalIPs AtomicFIFO
  AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
  ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation ClientsAllowTLSCacheGC ComponentFlagz
  ComponentStatusz ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules ContextualLogging
  CustomCPUCFSQuotaPeriod DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource
  DRAPartitionableDevices DRAPrioritizedList DRAResourceClaimDeviceStatus
  DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout DeclarativeValidationBeta
  DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency DisableCPUQuotaWithExclusiveCPUs EnvFiles
  ExtendWebSocketsToKubelet GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance
  HostnameOverride InOrderInformersBatchProcess InPlacePodLevelResourcesVerticalScaling
  InPlacePodVerticalScalingInitContainers InformerResourceVersion KubeletCrashLoopBackOffMax
  KubeletEnsureSecretPulledImages KubeletPodResourcesListUseActivePods KubeletSeparateDiskGC
  KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions
  MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge
  MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs MutatingAdmissionPolicy
  NodeDeclaredFeatures NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PLEGOnDemandRelist
  PodDeletionCost PodLevelResources PodReadyToStartContainersCondition PodTopologyLabelsAdmission
  PortForwardWebsockets PreventStaticPodAPIReferences RelaxedServiceNameValidation ReloadKubeletClientCAFile
  ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus ResourceHealthStatusMessage
  RestartAllContainersOnContainerExits RotateKubeletServerCertificate SchedulerAsyncPreemption
  SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction ServiceCIDRStatusFieldWiping
  SizeBasedListCostEstimate StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob
  StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison
  StorageNamespaceIndex StorageVersionHash StrictIPCIDRValidation
  StructuredAuthenticationConfigurationEgressSelector StructuredAuthenticationConfigurationJWKSMetrics
  TokenRequestServiceAccountUIDValidation TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests
  UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO
  WatchCacheInitializationPostStartHook WatchList WatchListClient WindowsGracefulNodeShutdown
`);
const OFF = names(`
  APIServingWithRoutine AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests
  AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions CRIListStreaming
  CSIVolumeHealth ChangeContainerStatusOnKubeletRestart ClientsAllowCBOR ClientsPreferCBOR
  CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook ClusterTrustBundle
  ClusterTrustBundleProjection ConcurrentWatchObjectDecode ContainerStopSignals
  ControllerManagerReleaseLeaderElectionLockOnExit CoordinatedLeaderElection CrossNamespaceVolumeDataSource
  DRADeviceTaintRules DRAListTypeAttributes DRANodeAllocatableResources DRAResourcePoolStatus
  DRAWorkloadResourceClaims DeclarativeValidationTakeover EventedPLEG GangScheduling GenericWorkload
  HPAScaleToZero ImageVolumeWithDigest InPlacePodVerticalScalingExclusiveCPUs
  InPlacePodVerticalScalingExclusiveMemory KMSv1 KubeletInUserNamespace KubeletRegistrationGetOnExistsOnly
  LocalStorageCapacityIsolationFSQuotaMonitoring LoggingAlphaOptions ManifestBasedAdmissionControlConfig
  MaxUnavailableStatefulSet MemoryQoS MutablePVNodeAffinity NativeHistograms PersistentVolumeClaimUnusedSinceTime
  PodAndContainerStatsFromCRI PodCertificateRequest PodLevelResourceManagers PodLogsQuerySplitStreams PodsAPI
  QOSReserved ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi SELinuxMount SchedulerAsyncAPICalls
  ShardedListAndWatch StorageCapacityScoring StorageVersionAPI StorageVersionMigrator
  TaintTolerationComparisonOperators TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions
  UserNamespacesHostNetworkSupport VolumeLimitScaling WindowsCPUAndMemoryAffinity WindowsHostNetwork
  WorkloadAwarePreemption WorkloadWithJob
`);

/** Upstream's gates that toggle all alpha or all beta gates. */
const SWITCHES_OF_MANY = ['AllAlpha', 'AllBeta'];

/**
 * Gates for node behavior that is fixed in this kubelet; any other value is rejected. All other gates concern other components, the cluster
 * or upstream's internals and are ignored, except MemoryQoS, which is configurable.
 */
const OF_THE_KUBELET = new Set(
  names(`
  ChangeContainerStatusOnKubeletRestart ClusterTrustBundleProjection ComponentFlagz ComponentStatusz ContainerCheckpoint
  ContainerRestartRules ContainerStopSignals CustomCPUCFSQuotaPeriod EnvFiles ExtendWebSocketsToKubelet
  GracefulNodeShutdownBasedOnPodPriority HostnameOverride ImageVolumeWithDigest InPlacePodLevelResourcesVerticalScaling
  InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletInUserNamespace
  LocalStorageCapacityIsolationFSQuotaMonitoring PodCertificateRequest PodLevelResources PodLogsQuerySplitStreams
  PodReadyToStartContainersCondition PreventStaticPodAPIReferences QOSReserved ReduceDefaultCrashLoopBackOffDecay
  RelaxedServiceNameValidation ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile ResourceHealthStatus
  RestartAllContainersOnContainerExits SELinuxMount TaintTolerationComparisonOperators UserNamespacesHostNetworkSupport
  WindowsHostNetwork
`),
);

/** Gates whose fixed behavior in this kubelet differs from upstream's default. */
const DIFFERENT: Record<string, boolean> = {
  PreventStaticPodAPIReferences: false,
};

type Gate = { locked: boolean; initial: boolean };

const GATES: ReadonlyMap<string, Gate> = new Map(
  [
    { list: LOCKED_ON, locked: true, initial: true },
    { list: LOCKED_OFF, locked: true, initial: false },
    { list: ON, locked: false, initial: true },
    { list: [...OFF, ...SWITCHES_OF_MANY], locked: false, initial: false },
  ].flatMap(({ list, ...gate }) => list.map((name) => [name, gate] as const)),
);

/** Returns why a gate cannot be set to this value, or `undefined` if it can. */
export function refuseGate(name: string, value: boolean): string | undefined {
  const gate = GATES.get(name);
  if (gate === undefined) return `unknown feature gate ${shorten(name)}${didYouMean(name, GATES.keys())}`;
  if (gate.locked && value !== gate.initial) return `the feature gate ${name} is locked to ${gate.initial}`;
  if (SWITCHES_OF_MANY.includes(name)) {
    return value
      ? `${name} would enable features that this kubelet does not have; set single feature gates instead`
      : undefined;
  }
  const behaves = DIFFERENT[name] ?? gate.initial;
  if (!OF_THE_KUBELET.has(name) || value === behaves) return undefined;
  return `the feature gate ${name} cannot be ${value}: this kubelet always behaves as with ${behaves}`;
}

/**
 * Returns all gates with upstream's defaults and locks. `behaves` is this kubelet's fixed behavior, or `undefined` if it ignores the gate.
 */
export function featureGates(): { name: string; initial: boolean; locked: boolean; behaves: boolean | undefined }[] {
  return [...GATES]
    .map(([name, gate]) => ({
      name,
      ...gate,
      behaves: OF_THE_KUBELET.has(name) ? (DIFFERENT[name] ?? gate.initial) : undefined,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const shorten = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
