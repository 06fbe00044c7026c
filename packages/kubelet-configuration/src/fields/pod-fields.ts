import { quantityValue } from '@podwright/kube-api';
import * as z from 'zod';
import {
  atLeast,
  between,
  dnsServerProblems,
  each,
  headerNameProblems,
  idCountProblems,
  logCountProblems,
  logSizeProblems,
  logsDirProblems,
  manifestUrlProblems,
  monitorIntervalProblems,
  sysctlProblems,
} from './checks.ts';
import { composes, field, inCluster, NO_ENTRIES, noted, nothing, only, sets } from './field.ts';
import { bool, choice, duration, headers, int32, int64, path, string, stringList } from './field-types.ts';
import { kubeletKey, otherKey, secondsKey } from './toml-key.ts';

/** An HTTP header field name (RFC 9110, section 5). */
const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is not a valid name of a header field');
const headerValue = z.string().regex(/^[\t -~\u00a0-\u00ff]*$/, 'has characters that a header field may not have');

const staticPodUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL', abort: true })
  .refine(hasNoCredentials, 'must have no user and password in it; static_pod_url_header can have them');

/** Fields for pod sources, and settings that apply to all pods. */
export const POD_FIELDS = {
  staticPodPath: field(path, '', {
    flag: 'pod-manifest-path',
    about: 'directory or file of static pod manifests',
    key: otherKey('manifests'),
    effect: sets('manifestDir', (path, before) => path || before),
  }),
  staticPodURL: field(string, '', {
    flag: 'manifest-url',
    about: 'URL of more static pod manifests',
    key: kubeletKey('static_pod_url', staticPodUrl),
    check: manifestUrlProblems,
    effect: sets('manifestUrl', (url) => url || undefined),
  }),
  staticPodURLHeader: field(headers, NO_ENTRIES, {
    flag: 'manifest-url-header',
    about: 'HTTP header fields of the requests to staticPodURL, name:value',
    key: kubeletKey('static_pod_url_header', z.record(headerName, z.array(headerValue)), {}),
    check: headerNameProblems,
    effect: sets('manifestUrlHeaders'),
  }),
  syncFrequency: field(duration, 60_000, {
    flag: 'sync-frequency',
    about: 'longest time between two syncs of a pod',
    check: atLeast(1),
    effect: sets('resyncPeriodMs'),
  }),
  fileCheckFrequency: field(duration, 20_000, {
    flag: 'file-check-frequency',
    about: 'interval at which manifest files are read again even if inotify reported no change',
    check: atLeast(1),
    effect: sets('sourcePeriods.fileMs'),
  }),
  httpCheckFrequency: field(duration, 20_000, {
    flag: 'http-check-frequency',
    about: 'interval at which staticPodURL is read',
    check: atLeast(1),
    effect: sets('sourcePeriods.urlMs'),
  }),
  clusterDomain: field(string, '', {
    flag: 'cluster-domain',
    about: "the cluster's DNS domain, which is added to the search domains of pods",
    key: kubeletKey('cluster_domain', z.string(), 'cluster.local'),
    effect: sets('clusterDomain'),
  }),
  clusterDNS: field(stringList, [], {
    flag: 'cluster-dns',
    about: 'name servers of pods with dnsPolicy ClusterFirst',
    key: kubeletKey('cluster_dns', z.array(z.string()), []),
    check: each(dnsServerProblems),
    effect: sets('clusterDns'),
  }),
  resolvConf: field(path, '/etc/resolv.conf', {
    flag: 'resolv-conf',
    about: "resolver configuration file that pods take the host's DNS settings from",
    effect: sets('resolvConf'),
    keepsZero: true,
  }),
  podCIDR: field(string, '', {
    flag: 'pod-cidr',
    about: 'subnet of pods, passed on to the runtime',
    effect: sets('podCidr'),
  }),
  hairpinMode: field(choice('promiscuous-bridge', 'hairpin-veth', 'none'), 'promiscuous-bridge', {
    flag: 'hairpin-mode',
    about: 'how a pod reaches itself through its Service: hairpin NAT on the bridge',
    effect: nothing('the runtime sets up the network of pods; honored with --container-runtime=docker'),
  }),
  podLogsDir: field(path, '/var/log/pods', {
    about: 'directory of container logs',
    key: otherKey('pod_logs'),
    check: logsDirProblems,
    effect: sets('podLogsDir'),
  }),
  containerLogMaxSize: field(string, '10Mi', {
    flag: 'container-log-max-size',
    about: 'size at which a container log is rotated',
    key: kubeletKey('container_log_max_size', z.string(), '10Mi'),
    check: logSizeProblems,
    effect: sets('containerLog.maxSizeBytes', (size) => Number(quantityValue(size))),
  }),
  containerLogMaxFiles: field(int32, 5, {
    flag: 'container-log-max-files',
    about: 'maximum number of log files of a container, including rotated ones',
    key: kubeletKey('container_log_max_files', z.int().min(2), 5),
    check: logCountProblems,
    effect: sets('containerLog.maxFiles'),
    keepsZero: true,
  }),
  containerLogMaxWorkers: field(int32, 1, {
    about: 'maximum number of rotated logs that are compressed at the same time',
    check: atLeast(1),
    effect: sets('containerLog.maxWorkers'),
    keepsZero: true,
  }),
  containerLogMonitorInterval: field(duration, 10_000, {
    about: 'interval at which log sizes are checked',
    check: monitorIntervalProblems,
    effect: sets('containerLog.monitorPeriodMs'),
    keepsZero: true,
  }),
  'crashLoopBackOff.maxContainerRestartPeriod': field(duration, 300_000, {
    about: 'longest back-off before a container is restarted',
    key: secondsKey('max_container_restart_period_seconds', z.int().min(1).max(300), 300),
    check: between(1000, 300_000, ['1s', '300s']),
    effect: sets('crashLoopBackoff', (maxMs) => ({ initialMs: Math.min(10_000, maxMs), maxMs })),
    keepsZero: true,
  }),
  seccompDefault: field(bool, false, {
    about: "use the runtime's seccomp profile for containers that name none",
    key: kubeletKey('seccomp_default', z.boolean()),
    effect: composes('seccompDefault'),
  }),
  allowedUnsafeSysctls: field(stringList, [], {
    flag: 'allowed-unsafe-sysctls',
    about: 'unsafe sysctls that pods may set; a trailing * matches any suffix',
    check: each(sysctlProblems),
    effect: sets('allowedUnsafeSysctls'),
  }),
  configMapAndSecretChangeDetectionStrategy: field(choice('Get', 'Cache', 'Watch'), 'Watch', {
    about: 'how changes of ConfigMaps and Secrets are detected',
    effect: noted(
      sets('objectChangeDetection', (strategy) => strategy || 'Watch'),
      'applies to objects of an API server; changes of manifests are always detected at once',
    ),
  }),
  volumePluginDir: field(path, '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/', {
    flag: 'volume-plugin-dir',
    about: 'directory of FlexVolume drivers',
    effect: nothing('pods with flexVolume are refused'),
  }),
  enableControllerAttachDetach: field(bool, true, {
    flag: 'enable-controller-attach-detach',
    about: 'let the attach-detach controller attach volumes',
    effect: inCluster(
      sets('node.controllerAttachDetach'),
      'with false the kubelet attaches nothing either: another component must create the VolumeAttachments',
    ),
  }),
  localStorageCapacityIsolation: field(bool, true, {
    flag: 'local-storage-capacity-isolation',
    about: 'enforce limits of local ephemeral storage',
    effect: only([true], 'the limits of emptyDir volumes are always enforced'),
  }),
  runOnce: field(bool, false, {
    flag: 'runonce',
    about: 'exit once the static pods have been started',
    effect: only(
      [false],
      "upstream's kubelet has removed it too; podwright run --once runs pods until they have ended",
    ),
  }),
  'userNamespaces.idsPerPod': field(int64, 65_536, {
    about: 'number of user and group IDs of a pod with a user namespace',
    check: idCountProblems,
    effect: sets('userNamespaceIdsPerPod'),
    keepsZero: true,
  }),
};

function hasNoCredentials(url: string): boolean {
  const { username, password } = new URL(url);
  return username === '' && password === '';
}
