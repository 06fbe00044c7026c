import { field, nothing, only, onlyEmpty, sets, setsInCluster } from './field.ts';
import {
  amount,
  bool,
  boolTable,
  choice,
  duration,
  durationOrNanoseconds,
  int32,
  int64,
  objects,
  shutdownPeriods,
  string,
} from './field-types.ts';
import { taints } from './taint-type.ts';

/** Fields about the node, the process and clusters. */
export const NODE_FIELDS = {
  registerNode: field(bool, true, {
    flag: 'register-node',
    about: 'register at the API server',
    effect: setsInCluster('node.register'),
  }),
  registerWithTaints: field(taints, [], {
    flag: 'register-with-taints',
    about: 'taints of the node',
    effect: setsInCluster('node.taints'),
  }),
  providerID: field(string, '', {
    flag: 'provider-id',
    about: 'id of the node in the cloud',
    effect: setsInCluster('node.providerId'),
  }),
  nodeStatusUpdateFrequency: field(duration, 10_000, {
    flag: 'node-status-update-frequency',
    about: 'how often the status of the node is worked out',
    effect: setsInCluster('node.statusUpdateMs'),
  }),
  nodeStatusReportFrequency: field(duration, 300_000, {
    about: 'how often it is reported though unchanged',
    effect: setsInCluster('node.statusReportMs'),
  }),
  nodeLeaseDurationSeconds: field(int32, 40, {
    about: 'duration of the lease of the node',
    effect: setsInCluster('node.leaseDurationSeconds'),
  }),
  nodeStatusMaxImages: field(int32, 50, {
    flag: 'node-status-max-images',
    about: 'images in the status of the node',
    effect: setsInCluster('node.maxImages'),
    keepsZero: true,
  }),
  contentType: field(string, 'application/vnd.kubernetes.protobuf', {
    flag: 'kube-api-content-type',
    about: 'type of requests to the API server',
    effect: nothing('requests are JSON'),
  }),
  kubeAPIQPS: field(int32, 50, {
    flag: 'kube-api-qps',
    about: 'requests a second to the API server',
    effect: setsInCluster('cluster.client'),
    keepsZero: true,
  }),
  kubeAPIBurst: field(int32, 100, {
    flag: 'kube-api-burst',
    about: 'requests at once to the API server',
    effect: setsInCluster('cluster.client'),
  }),
  eventRecordQPS: field(int32, 50, {
    flag: 'event-qps',
    about: 'events a second to the API server',
    effect: setsInCluster('cluster.eventClient'),
    keepsZero: true,
  }),
  eventBurst: field(int32, 100, {
    flag: 'event-burst',
    about: 'events at once to the API server',
    effect: setsInCluster('cluster.eventClient'),
  }),
  maxPods: field(int32, 110, { flag: 'max-pods', about: 'pods at most', effect: sets('maxPods') }),
  podsPerCore: field(int32, 0, {
    flag: 'pods-per-core',
    about: 'pods a core at most, 0 for any number',
    effect: sets('maxPods'),
  }),
  oomScoreAdj: field(int32, -999, {
    flag: 'oom-score-adj',
    about: "the kubelet's oom_score_adj, or the nearest that may be set",
    effect: sets('oomScoreAdj'),
    keepsZero: true,
  }),
  maxOpenFiles: field(int64, 1_000_000, {
    flag: 'max-open-files',
    about: 'files that the kubelet may have open',
    effect: nothing('it has as many as the host lets it'),
  }),
  failSwapOn: field(bool, true, {
    flag: 'fail-swap-on',
    about: 'do not start while the host has swap',
    effect: sets('requirements'),
  }),
  failCgroupV1: field(bool, true, {
    flag: 'fail-cgroupv1',
    about: 'do not start on cgroup v1',
    effect: sets('requirements'),
  }),
  protectKernelDefaults: field(bool, false, {
    flag: 'protect-kernel-defaults',
    about: "do not start when settings of the kernel are not upstream's",
    effect: sets('requirements'),
  }),
  makeIPTablesUtilChains: field(bool, true, {
    flag: 'make-iptables-util-chains',
    about: 'keep chains of iptables for kube-proxy',
    effect: nothing('this kubelet makes no rules'),
  }),
  iptablesMasqueradeBit: field(int32, 14, {
    about: 'mark of packets to masquerade',
    effect: nothing('this kubelet makes no rules'),
    keepsZero: true,
  }),
  iptablesDropBit: field(int32, 15, {
    about: 'mark of packets to drop',
    effect: nothing('this kubelet makes no rules'),
    keepsZero: true,
  }),
  featureGates: field(
    boolTable,
    {},
    {
      flag: 'feature-gates',
      about: 'feature gates by name, see docs/kubelet-configuration.md',
      effect: sets('containerResources'),
    },
  ),
  shutdownGracePeriod: field(duration, 0, {
    about: 'time for pods to end before the host shuts down',
    effect: sets('shutdownPeriods'),
  }),
  shutdownGracePeriodCriticalPods: field(duration, 0, {
    about: 'of it, what critical pods have',
    effect: sets('shutdownPeriods'),
  }),
  shutdownGracePeriodByPodPriority: field(shutdownPeriods, [], {
    about: 'the same by priority',
    effect: sets('shutdownPeriods'),
  }),
  'logging.format': field(choice('text', 'json'), 'text', {
    flag: 'logging-format',
    about: 'text or json',
    effect: nothing('logs are lines of JSON'),
  }),
  'logging.flushFrequency': field(durationOrNanoseconds, 5000, {
    flag: 'log-flush-frequency',
    about: 'how long a line may wait',
    effect: nothing('lines are written at once'),
  }),
  'logging.verbosity': field(int32, 0, {
    flag: 'v',
    letter: 'v',
    about: '4 and more write debug messages',
    effect: sets('logLevel'),
  }),
  'logging.vmodule': field(objects, [], {
    flag: 'vmodule',
    about: 'verbosity by file',
    effect: onlyEmpty('messages have one level for all files'),
  }),
  'logging.options.text.splitStream': field(bool, false, {
    flag: 'log-text-split-stream',
    about: 'errors on standard error, the rest on standard output',
    effect: only([false], 'all lines are on standard error'),
  }),
  'logging.options.text.infoBufferSize': field(amount, '0', {
    flag: 'log-text-info-buffer-size',
    about: 'buffer of the rest',
    effect: nothing('lines are written at once'),
  }),
  'logging.options.json.splitStream': field(bool, false, {
    flag: 'log-json-split-stream',
    about: 'errors on standard error, the rest on standard output',
    effect: only([false], 'all lines are on standard error'),
  }),
  'logging.options.json.infoBufferSize': field(amount, '0', {
    flag: 'log-json-info-buffer-size',
    about: 'buffer of the rest',
    effect: nothing('lines are written at once'),
  }),
};
