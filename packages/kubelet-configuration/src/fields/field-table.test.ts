import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IssueList } from '@podwright/kube-api';
import { FIELDS, FILE_FIELDS } from './field-table.ts';

/** The top-level fields of KubeletConfiguration v1beta1 in Kubernetes 1.36. */
const UPSTREAM_FIELDS = `
  address allowedUnsafeSysctls authentication authorization cgroupDriver cgroupRoot cgroupsPerQOS clusterDNS
  clusterDomain configMapAndSecretChangeDetectionStrategy containerLogMaxFiles containerLogMaxSize
  containerLogMaxWorkers containerLogMonitorInterval containerRuntimeEndpoint contentType cpuCFSQuota
  cpuCFSQuotaPeriod cpuManagerPolicy cpuManagerPolicyOptions cpuManagerReconcilePeriod crashLoopBackOff
  enableContentionProfiling enableControllerAttachDetach enableDebugFlagsHandler enableDebuggingHandlers
  enableProfilingHandler enableServer enableSystemLogHandler enableSystemLogQuery enforceNodeAllocatable
  eventBurst eventRecordQPS evictionHard evictionMaxPodGracePeriod evictionMinimumReclaim
  evictionPressureTransitionPeriod evictionSoft evictionSoftGracePeriod failCgroupV1 failSwapOn featureGates
  fileCheckFrequency hairpinMode healthzBindAddress healthzPort httpCheckFrequency imageGCHighThresholdPercent
  imageGCLowThresholdPercent imageMaximumGCAge imageMinimumGCAge imagePullCredentialsVerificationPolicy
  imageServiceEndpoint iptablesDropBit iptablesMasqueradeBit kernelMemcgNotification kubeAPIBurst kubeAPIQPS
  kubeReserved kubeReservedCgroup kubeletCgroups localStorageCapacityIsolation logging makeIPTablesUtilChains
  maxOpenFiles maxParallelImagePulls maxPods memoryManagerPolicy memoryReservationPolicy memorySwap
  memoryThrottlingFactor mergeDefaultEvictionSettings nodeLeaseDurationSeconds nodeStatusMaxImages
  nodeStatusReportFrequency nodeStatusUpdateFrequency oomScoreAdj podCIDR podLogsDir podPidsLimit podsPerCore port
  preloadedImagesVerificationAllowlist protectKernelDefaults providerID qosReserved readOnlyPort registerNode
  registerWithTaints registryBurst registryPullQPS reservedMemory reservedSystemCPUs resolvConf rotateCertificates
  runOnce runtimeRequestTimeout seccompDefault serializeImagePulls serverTLSBootstrap showHiddenMetricsForVersion
  shutdownGracePeriod shutdownGracePeriodByPodPriority shutdownGracePeriodCriticalPods singleProcessOOMKill
  staticPodPath staticPodURL staticPodURLHeader streamingConnectionIdleTimeout syncFrequency systemCgroups
  systemReserved systemReservedCgroup tlsCertFile tlsCipherSuites tlsCurvePreferences tlsMinVersion
  tlsPrivateKeyFile topologyManagerPolicy topologyManagerPolicyOptions topologyManagerScope tracing userNamespaces
  volumePluginDir volumeStatsAggPeriod
`;

/** The flags of upstream's kubelet 1.36. */
const UPSTREAM_FLAGS = `
  address allowed-unsafe-sysctls anonymous-auth application-metrics-count-limit authentication-token-webhook
  authentication-token-webhook-cache-ttl authorization-mode authorization-webhook-cache-authorized-ttl
  authorization-webhook-cache-unauthorized-ttl boot-id-file bootstrap-kubeconfig cert-dir cgroup-driver
  cgroup-root cgroups-per-qos client-ca-file cloud-provider cluster-dns cluster-domain config config-dir
  container-hints container-log-max-files container-log-max-size container-runtime-endpoint containerd
  containerd-namespace contention-profiling cpu-cfs-quota cpu-cfs-quota-period cpu-manager-policy
  cpu-manager-policy-options cpu-manager-reconcile-period enable-controller-attach-detach
  enable-debugging-handlers enable-load-reader enable-server enforce-node-allocatable event-burst event-qps
  event-storage-age-limit event-storage-event-limit eviction-hard eviction-max-pod-grace-period
  eviction-minimum-reclaim eviction-pressure-transition-period eviction-soft eviction-soft-grace-period
  exit-on-lock-contention experimental-allocatable-ignore-eviction experimental-mounter-path fail-cgroupv1
  fail-swap-on feature-gates file-check-frequency global-housekeeping-interval hairpin-mode healthz-bind-address
  healthz-port help hostname-override housekeeping-interval http-check-frequency image-credential-provider-bin-dir
  image-credential-provider-config image-gc-high-threshold image-gc-low-threshold image-service-endpoint
  kernel-memcg-notification kube-api-burst kube-api-content-type kube-api-qps kube-reserved kube-reserved-cgroup
  kubeconfig kubelet-cgroups local-storage-capacity-isolation lock-file log-cadvisor-usage log-flush-frequency
  log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size log-text-split-stream logging-format
  machine-id-file make-iptables-util-chains manifest-url manifest-url-header max-housekeeping-interval
  max-open-files max-pods maximum-dead-containers maximum-dead-containers-per-container memory-manager-policy
  minimum-container-ttl-duration minimum-image-ttl-duration node-ip node-labels node-status-max-images
  node-status-update-frequency oom-score-adj pod-cidr pod-manifest-path pod-max-pids pods-per-core port
  protect-kernel-defaults provider-id qos-reserved read-only-port register-node register-with-taints
  registry-burst registry-qps reserved-cpus reserved-memory resolv-conf root-dir rotate-certificates
  rotate-server-certificates runonce runtime-cgroups runtime-request-timeout seccomp-default serialize-image-pulls
  storage-driver-buffer-duration storage-driver-db storage-driver-host storage-driver-password
  storage-driver-secure storage-driver-table storage-driver-user streaming-connection-idle-timeout sync-frequency
  system-cgroups system-reserved system-reserved-cgroup tls-cert-file tls-cipher-suites tls-min-version
  tls-private-key-file topology-manager-policy topology-manager-policy-options topology-manager-scope v version
  vmodule volume-plugin-dir volume-stats-agg-period
`;

/** Flags that the program itself handles, so the field table does not contain them. */
const OWN = ['config', 'config-dir', 'help', 'version'];

/** Podwright's own flags, which upstream's kubelet does not have. */
const ADDED = ['token-auth-file'];

const words = (text: string) => text.trim().split(/\s+/).sort();

test('the table has all of upstream’s fields and flags, and only the listed additions', () => {
  const fields = new Set(Object.keys(FILE_FIELDS).map((name) => name.split('.')[0]!));
  assert.deepEqual([...fields].sort(), words(UPSTREAM_FIELDS));
  const flags = [...FIELDS.values()].flatMap(({ flag }) => flag ?? []);
  assert.deepEqual([...flags, ...OWN].sort(), [...words(UPSTREAM_FLAGS), ...ADDED].sort());
});

test('every default is a valid, accepted value', () => {
  for (const [name, { type, fallback, effect }] of FIELDS) {
    if (fallback === undefined || name === 'imagePullCredentialsVerificationPolicy') continue;
    const issues = new IssueList();
    const written = /^duration/.test(type.name) ? `${fallback}ms` : fallback;
    const value = type.decode(written, issues);
    assert.deepEqual([issues.issues, value], [[], fallback], name);
    if (effect.kind === 'only') assert.ok(effect.allows(value), name);
  }
});
