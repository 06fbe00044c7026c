/** DaemonSet pods: their template, node and revision (upstream's pkg/controller/daemon/util). */
import type { NodeSelectorTerm, Pod, PodSpec, Toleration } from '@podwright/kube-api';
import { DAEMON_SETS, type DaemonSet } from '../objects/daemon-set.ts';
import { controllerReference } from '../pods/controller-reference.ts';
import { type NewPod, podFromTemplate } from '../pods/pod-template.ts';

/** Label with the hash of the pod's ControllerRevision. */
export const HASH_LABEL = 'controller-revision-hash';
const GENERATION_LABEL = 'pod-template-generation';
const GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';
const NODE_NAME_FIELD = 'metadata.name';

const exists = (name: string, effect: 'NoExecute' | 'NoSchedule'): Toleration => ({
  key: `node.kubernetes.io/${name}`,
  operator: 'Exists',
  effect,
});
/** Tolerations added to all DaemonSet pods, so that they run on nodes with problems. */
const TOLERATIONS: readonly Toleration[] = [
  exists('not-ready', 'NoExecute'),
  exists('unreachable', 'NoExecute'),
  exists('disk-pressure', 'NoSchedule'),
  exists('memory-pressure', 'NoSchedule'),
  exists('pid-pressure', 'NoSchedule'),
  exists('unschedulable', 'NoSchedule'),
];

/** Adds the tolerations of all DaemonSet pods. They replace the template's tolerations of the same taints. */
export function withDaemonTolerations(spec: PodSpec): PodSpec {
  const added = spec.hostNetwork === true ? [...TOLERATIONS, exists('network-unavailable', 'NoSchedule')] : TOLERATIONS;
  const tolerations = [...(spec.tolerations ?? [])];
  for (const toleration of added) {
    const index = tolerations.findIndex((one) => isSameMatch(one, toleration));
    if (index < 0) tolerations.push({ ...toleration });
    else tolerations[index] = { ...toleration };
  }
  return { ...spec, tolerations };
}

function isSameMatch(a: Toleration, b: Toleration): boolean {
  return a.key === b.key && a.effect === b.effect && a.operator === b.operator && (a.value ?? '') === (b.value ?? '');
}

/** Builds the pod for a node. Its node affinity makes the scheduler bind it there. */
export function newDaemonPod(set: DaemonSet, nodeName: string, hash: string): NewPod {
  const pod = podFromTemplate(set.spec.template, controllerReference(DAEMON_SETS, set), set.metadata.name);
  const generation = templateGeneration(set);
  const labels = {
    ...pod.metadata.labels,
    ...(generation === undefined ? {} : { [GENERATION_LABEL]: generation }),
    [HASH_LABEL]: hash,
  };
  return { ...pod, metadata: { ...pod.metadata, labels }, spec: forNode(withDaemonTolerations(pod.spec), nodeName) };
}

/** Replaces the required node affinity with the node's name. The node already matches the template's own affinity. */
function forNode(spec: PodSpec, nodeName: string): PodSpec {
  const matchFields = [{ key: NODE_NAME_FIELD, operator: 'In' as const, values: [nodeName] }];
  const nodeAffinity = {
    ...spec.affinity?.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
  };
  return { ...spec, affinity: { ...spec.affinity, nodeAffinity } };
}

/** Returns the pod's node or, if it is not assigned yet, the node named by its affinity. */
export function targetNode({ spec }: Pod): string | undefined {
  if ((spec.nodeName ?? '') !== '') return spec.nodeName;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const names = (required?.nodeSelectorTerms ?? []).flatMap(({ matchFields = [] }: NodeSelectorTerm) =>
    matchFields.filter(({ key, operator }) => key === NODE_NAME_FIELD && operator === 'In'),
  );
  const values = names[0]?.values ?? [];
  return values.length === 1 ? values[0] : undefined;
}

/**
 * Whether the pod has the set's current template, going by its revision hash or by the template generation of early Kubernetes versions.
 */
export function isUpdated(set: DaemonSet, hash: string, { metadata: { labels = {} } }: Pod): boolean {
  const generation = templateGeneration(set);
  return labels[HASH_LABEL] === hash || (generation !== undefined && labels[GENERATION_LABEL] === generation);
}

function templateGeneration({ metadata }: DaemonSet): string | undefined {
  const text = metadata.annotations?.[GENERATION_ANNOTATION] ?? '';
  return /^-?\d+$/.test(text) ? text : undefined;
}
