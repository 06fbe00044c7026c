import { type ObjectMeta, type Pod, podSummary, type Toleration } from '@podwright/kube-api';
import type { PodDefaults } from '@podwright/kubelet';
import { describeTime, entry, lines, type OutlineEntry, pairs, prose, section } from '../output/outline.ts';
import { describeContainer } from './describe-container.ts';
import { describeVolume } from './describe-volumes.ts';

const CONFIG_FILE = 'podwright.dev/config.file';
/** Internal annotations. Some are shown as fields of the description; the others are not shown. */
const INTERNAL = [
  CONFIG_FILE,
  'podwright.dev/config.content',
  'podwright.dev/metadata-patch',
  'kubernetes.io/config.source',
  'kubernetes.io/config.hash',
  'kubernetes.io/config.seen',
];

/** Describes a pod, without its events, in the format of `kubectl describe`. */
export function describePod(pod: Pod, defaults: PodDefaults | undefined): OutlineEntry[] {
  const { spec, status } = pod;
  const containers = (list: typeof spec.containers) => list.map((one) => describeContainer(pod, one, defaults));
  return [
    ...describeMeta(pod.metadata),
    ...identity(pod),
    ...(spec.initContainers?.length ? [section('Init Containers', containers(spec.initContainers))] : []),
    section('Containers', containers(spec.containers)),
    ...(spec.ephemeralContainers?.length
      ? [section('Ephemeral Containers', containers(spec.ephemeralContainers))]
      : []),
    section('Conditions', (status?.conditions ?? []).flatMap(conditionEntries)),
    section('Volumes', (spec.volumes ?? []).map(describeVolume)),
    ...entry('QoS Class', status?.qosClass),
    ...entry('Processes Limit', defaults?.pidsPerPod),
    pairs('Node-Selectors', spec.nodeSelector),
    lines('Tolerations', (spec.tolerations ?? []).map(describeToleration)),
  ];
}

/** Describes the metadata fields that all objects have. */
export function describeMeta({ name, namespace, labels, annotations = {} }: ObjectMeta): OutlineEntry[] {
  const own = Object.fromEntries(Object.entries(annotations).filter(([key]) => !INTERNAL.includes(key)));
  return [
    ...entry('Name', name),
    ...entry('Namespace', namespace),
    pairs('Labels', labels),
    pairs('Annotations', own, ': '),
  ];
}

function identity(pod: Pod): OutlineEntry[] {
  const { metadata, spec, status } = pod;
  const node = spec.nodeName && (status?.hostIP ? `${spec.nodeName}/${status.hostIP}` : spec.nodeName);
  const file = metadata.annotations?.[CONFIG_FILE];
  return [
    ...entry('UID', metadata.uid),
    ...entry('Node', node),
    ...entry('Start Time', describeTime(status?.startTime)),
    ...entry('Deleted', describeTime(metadata.deletionTimestamp)),
    ...entry('Status', podSummary(pod).status),
    ...prose('Message', status?.message),
    ...entry('IP', status?.podIP),
    ...entry('IPs', (status?.podIPs ?? []).map(({ ip }) => ip).join(', ')),
    ...entry('Host Network', spec.hostNetwork || undefined),
    ...entry('Restart Policy', spec.restartPolicy),
    ...entry(
      'Termination Grace Period',
      spec.terminationGracePeriodSeconds && `${spec.terminationGracePeriodSeconds}s`,
    ),
    ...entry('Runtime Class Name', spec.runtimeClassName),
    ...entry('Priority', spec.priority),
    ...(file === undefined
      ? []
      : entry('Config Source', `${metadata.annotations?.['kubernetes.io/config.source']} ${file}`)),
  ];
}

function conditionEntries({
  type,
  status,
  reason,
  message,
}: {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}): OutlineEntry[] {
  const why = [reason, message].filter(Boolean).join(': ');
  return prose(type, why === '' ? status : `${status} (${why})`);
}

function describeToleration({ key, operator, value, effect, tolerationSeconds }: Toleration): string {
  const what = `${key ?? ''}${value ? `=${value}` : ''}${effect ? `:${effect}` : ''}`;
  const exists = operator === 'Exists' ? ' op=Exists' : '';
  return `${what}${exists}${tolerationSeconds === undefined ? '' : ` for ${tolerationSeconds}s`}`.trim();
}
