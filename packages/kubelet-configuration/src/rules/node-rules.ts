import { isIP } from 'node:net';
import { must, type Rule, within } from './rule.ts';

const cgroupVersion: Rule = ({ failCgroupV1 }, host) =>
  must(
    !failCgroupV1 || host.cgroupVersion !== 'v1',
    'failCgroupV1',
    'kubelet is configured to not run on a host using cgroup v1; set it to false to run here anyway',
  );

const shutdown: Rule = (configuration) => {
  const { shutdownGracePeriod: all, shutdownGracePeriodCriticalPods: critical } = configuration;
  const isPeriod = (ms: number) => ms === 0 || ms >= 1000;
  const gates: Record<string, boolean> = configuration.featureGates;
  const byPriority = configuration.shutdownGracePeriodByPodPriority.length > 0;
  return [
    ...must(critical <= all, 'shutdownGracePeriodCriticalPods', 'must be at most shutdownGracePeriod'),
    ...must(isPeriod(all), 'shutdownGracePeriod', 'must be 0 or at least 1s'),
    ...must(isPeriod(critical), 'shutdownGracePeriodCriticalPods', 'must be 0 or at least 1s'),
    ...must(
      !byPriority || (all <= 0 && critical <= 0),
      'shutdownGracePeriodByPodPriority',
      'cannot be combined with shutdownGracePeriod',
    ),
    ...must(
      gates.GracefulNodeShutdown !== false || (all <= 0 && !byPriority),
      byPriority ? 'shutdownGracePeriodByPodPriority' : 'shutdownGracePeriod',
      'needs the feature gate GracefulNodeShutdown',
    ),
  ];
};

/** Prefixes and names of Kubernetes' labels that a kubelet may set on its node (kubelet/pkg/apis/well_known_labels.go). */
const LABEL_NAMESPACES = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const LABELS = [
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
];

const labels: Rule = ({ nodeLabels }) =>
  Object.entries(nodeLabels).flatMap(([key, value]) => [
    ...must(
      mayBeSet(key),
      'nodeLabels',
      `${key}: a kubelet may not set this label of Kubernetes on its node; it may set labels of ${LABEL_NAMESPACES.join(', ')}, and ${LABELS.join(', ')}`,
    ),
    ...must(isQualifiedName(key), 'nodeLabels', `${key.slice(0, 100)} is not a valid label name`),
    ...must(isLabelValue(value), 'nodeLabels', `${value.slice(0, 100)} is not a valid label value`),
  ]);

const isBelow = (namespace: string, parent: string) => namespace === parent || namespace.endsWith(`.${parent}`);

function mayBeSet(key: string): boolean {
  const namespace = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  const isKubernetes = isBelow(namespace, 'kubernetes.io') || isBelow(namespace, 'k8s.io');
  return !isKubernetes || LABELS.includes(key) || LABEL_NAMESPACES.some((allowed) => isBelow(namespace, allowed));
}

const isLabelValue = (value: string) => /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/.test(value);

function isQualifiedName(key: string): boolean {
  const [, prefix, name = ''] = /^(?:([^/]*)\/)?([^/]*)$/.exec(key) ?? [];
  const isPrefix =
    prefix === undefined ||
    (prefix.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(prefix));
  return isPrefix && /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(name);
}

const addresses: Rule = ({ nodeIp }) => {
  const families = nodeIp.split(',').map((address) => isIP(address.trim()));
  const isOneOfEach = families.every((family) => family !== 0) && new Set(families).size === families.length;
  return must(
    nodeIp === '' || isOneOfEach,
    'nodeIp',
    'must be an IP address, or one of each family separated by a comma',
  );
};

const cluster: Rule = ({ kubeconfig, bootstrapKubeconfig, serverTLSBootstrap }) => [
  ...must(
    kubeconfig !== '' || bootstrapKubeconfig === '',
    'bootstrapKubeconfig',
    'needs --kubeconfig, the file to write',
  ),
  ...must(
    kubeconfig !== '' || !serverTLSBootstrap,
    'serverTLSBootstrap',
    'needs --kubeconfig: a cluster signs the certificate',
  ),
];

const taints: Rule = ({ registerWithTaints }) =>
  registerWithTaints.flatMap(({ key, value = '' }) =>
    must(
      isQualifiedName(key) && isLabelValue(value),
      'registerWithTaints',
      `${key.slice(0, 100)}: key and value must be valid as those of labels`,
    ),
  );

export const NODE_RULES: Rule[] = [
  cluster,
  taints,
  cgroupVersion,
  shutdown,
  labels,
  addresses,
  within(['nodeLeaseDurationSeconds', 'nodeStatusUpdateFrequency', 'nodeStatusReportFrequency'], 1),
  within(['nodeStatusMaxImages'], -1),
  within(
    [
      'eventBurst',
      'eventRecordQPS',
      'kubeAPIBurst',
      'kubeAPIQPS',
      'maxOpenFiles',
      'maxPods',
      'podsPerCore',
      'logging.verbosity',
      'logging.flushFrequency',
    ],
    0,
  ),
  within(['oomScoreAdj'], -1000, 1000),
  within(['iptablesDropBit', 'iptablesMasqueradeBit'], 0, 31),
];
