import { field, nothing, only, sets, setsInCluster } from './field.ts';
import { bool, choice, duration, headers, int32, int64, path, string, stringList } from './field-types.ts';

/** Fields about pods: where they come from, and what holds for all of them. */
export const POD_FIELDS = {
  staticPodPath: field(path, '', {
    flag: 'pod-manifest-path',
    about: 'directory of manifests',
    effect: sets('manifestDir'),
  }),
  staticPodURL: field(string, '', {
    flag: 'manifest-url',
    about: 'URL of more manifests',
    effect: sets('manifestUrl'),
  }),
  staticPodURLHeader: field(
    headers,
    {},
    {
      flag: 'manifest-url-header',
      about: 'header fields of requests for it, name:value',
      effect: sets('manifestUrlHeaders'),
    },
  ),
  syncFrequency: field(duration, 60_000, {
    flag: 'sync-frequency',
    about: 'longest time between two syncs of a pod',
    effect: sets('resyncPeriodMs'),
  }),
  fileCheckFrequency: field(duration, 20_000, {
    flag: 'file-check-frequency',
    about: 'how often manifests are read again although nothing was seen',
    effect: sets('sourcePeriods.fileMs'),
  }),
  httpCheckFrequency: field(duration, 20_000, {
    flag: 'http-check-frequency',
    about: 'how often the manifest URL is read',
    effect: sets('sourcePeriods.urlMs'),
  }),
  clusterDomain: field(string, '', {
    flag: 'cluster-domain',
    about: 'domain that pods search',
    effect: sets('clusterDomain'),
  }),
  clusterDNS: field(stringList, [], {
    flag: 'cluster-dns',
    about: 'DNS servers of pods with dnsPolicy ClusterFirst',
    effect: sets('clusterDns'),
  }),
  resolvConf: field(path, '/etc/resolv.conf', {
    flag: 'resolv-conf',
    about: 'resolv.conf that pods get their DNS settings from',
    effect: sets('resolvConf'),
    keepsZero: true,
  }),
  podCIDR: field(string, '', {
    flag: 'pod-cidr',
    about: 'subnet of pods, which the runtime is told',
    effect: sets('podCidr'),
  }),
  hairpinMode: field(choice('promiscuous-bridge', 'hairpin-veth', 'none'), 'promiscuous-bridge', {
    flag: 'hairpin-mode',
    about: 'hairpin NAT of the bridge',
    effect: nothing("a pod's network is the runtime's; set with --container-runtime=docker"),
  }),
  podLogsDir: field(path, '/var/log/pods', { about: 'directory of container logs', effect: sets('podLogsDir') }),
  containerLogMaxSize: field(string, '10Mi', {
    flag: 'container-log-max-size',
    about: 'size at which a log is rotated',
    effect: sets('containerLog.maxSizeBytes'),
  }),
  containerLogMaxFiles: field(int32, 5, {
    flag: 'container-log-max-files',
    about: 'files of a log, with the rotated ones',
    effect: sets('containerLog.maxFiles'),
    keepsZero: true,
  }),
  containerLogMaxWorkers: field(int32, 1, {
    about: 'rotated logs that are compressed at a time',
    effect: sets('containerLog.maxWorkers'),
    keepsZero: true,
  }),
  containerLogMonitorInterval: field(duration, 10_000, {
    about: 'how often logs are measured',
    effect: sets('containerLog.monitorPeriodMs'),
    keepsZero: true,
  }),
  'crashLoopBackOff.maxContainerRestartPeriod': field(duration, 300_000, {
    about: 'longest delay of restarts',
    effect: sets('crashLoopBackoff'),
    keepsZero: true,
  }),
  seccompDefault: field(bool, false, {
    about: "containers without a seccomp profile get the runtime's",
    effect: sets('seccompDefault'),
  }),
  allowedUnsafeSysctls: field(stringList, [], {
    flag: 'allowed-unsafe-sysctls',
    about: 'unsafe sysctls that pods may set, with * at the end for all that begin so',
    effect: sets('allowedUnsafeSysctls'),
  }),
  configMapAndSecretChangeDetectionStrategy: field(choice('Get', 'Cache', 'Watch'), 'Watch', {
    about: 'how changes of ConfigMaps and Secrets are seen',
    effect: sets('objectChangeDetection', 'of an API server; every change of manifests is seen'),
  }),
  volumePluginDir: field(path, '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/', {
    flag: 'volume-plugin-dir',
    about: 'directory of FlexVolume drivers',
    effect: nothing('pods with flexVolume are refused'),
  }),
  enableControllerAttachDetach: field(bool, true, {
    flag: 'enable-controller-attach-detach',
    about: 'leave attaching volumes to the controller',
    effect: setsInCluster('node.controllerAttachDetach', 'with false somebody else makes the VolumeAttachments'),
  }),
  localStorageCapacityIsolation: field(bool, true, {
    flag: 'local-storage-capacity-isolation',
    about: 'hold pods to their limits of local storage',
    effect: only([true], 'the limits of emptyDir volumes always hold'),
  }),
  runOnce: field(bool, false, {
    flag: 'runonce',
    about: 'end once the pods run',
    effect: only(
      [false],
      "upstream's kubelet has removed it, too; podwright run --once runs pods until they have ended",
    ),
  }),
  'userNamespaces.idsPerPod': field(int64, 65_536, {
    about: 'ids of a pod with a user namespace',
    effect: sets('userNamespaceIdsPerPod'),
    keepsZero: true,
  }),
};
