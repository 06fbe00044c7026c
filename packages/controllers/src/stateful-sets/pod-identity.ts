/** Names, labels and volumes of the pods of a StatefulSet (upstream's pkg/controller/statefulset/stateful_set_utils.go). */
import type { KubeObject, Pod, PodSpec } from '@podwright/kube-api';
import { type ClaimTemplate, STATEFUL_SETS, type StatefulSet } from '../objects/stateful-set.ts';
import { controllerReference } from '../pods/controller-reference.ts';
import { type PodTemplate, podFromTemplate } from '../pods/pod-template.ts';

const POD_NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
const POD_INDEX_LABEL = 'apps.kubernetes.io/pod-index';
/** Label with the name of the pod's ControllerRevision. */
export const REVISION_LABEL = 'controller-revision-hash';

/** A pod to create, with its name. */
export type NewStatefulPod = Omit<Pod, 'metadata' | 'status'> & { metadata: KubeObject['metadata'] & { name: string } };

export function podName(set: StatefulSet, ordinal: number): string {
  return `${set.metadata.name}-${ordinal}`;
}

export function claimName(set: StatefulSet, template: ClaimTemplate, ordinal: number): string {
  return `${template.metadata.name}-${set.metadata.name}-${ordinal}`;
}

/** Whether a claim with this name belongs to one of the set's pods. */
export function hasClaim(set: StatefulSet, name: string): boolean {
  return (set.spec.volumeClaimTemplates ?? []).some(({ metadata }) => {
    const prefix = `${metadata.name}-${set.metadata.name}-`;
    return name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length));
  });
}

/** Returns the ordinal in a pod's name, or nothing if it is not a name of the set's pods. */
export function ordinalOf(set: StatefulSet, { metadata }: KubeObject): number | undefined {
  const [, parent, digits = ''] = /^(.*)-(\d{1,10})$/s.exec(metadata.name ?? '') ?? [];
  const ordinal = Number(digits);
  return parent === set.metadata.name && ordinal < 2 ** 31 ? ordinal : undefined;
}

export function revisionOf({ metadata }: KubeObject): string {
  return metadata.labels?.[REVISION_LABEL] ?? '';
}

/** Builds the pod for an ordinal from a revision's template. */
export function newStatefulPod(
  set: StatefulSet,
  ordinal: number,
  { template, revision }: { template: PodTemplate; revision: string },
): NewStatefulPod {
  const { metadata, ...pod } = podFromTemplate(template, controllerReference(STATEFUL_SETS, set), set.metadata.name);
  const { generateName: _prefix, labels, ...kept } = metadata;
  const name = podName(set, ordinal);
  const { serviceName = '' } = set.spec;
  return {
    ...pod,
    metadata: { ...kept, name, labels: { ...labels, ...identityLabels(name, ordinal), [REVISION_LABEL]: revision } },
    spec: {
      ...pod.spec,
      hostname: name,
      ...(serviceName === '' ? {} : { subdomain: serviceName }),
      ...volumesOf(set, ordinal, pod.spec),
    },
  };
}

/** Returns the pod with its identity restored, or nothing if its labels and volumes are correct. */
export function repairedPod(set: StatefulSet, pod: Pod): Pod | undefined {
  const ordinal = ordinalOf(set, pod);
  if (ordinal === undefined) return undefined;
  const { name, labels } = pod.metadata;
  const hasIdentity = labels?.[POD_NAME_LABEL] === name;
  if (hasIdentity && hasClaims(set, ordinal, pod)) return undefined;
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: { ...labels, ...identityLabels(name, ordinal) } },
    spec: { ...pod.spec, ...volumesOf(set, ordinal, pod.spec) },
  };
}

/** Builds the claims of a pod from the set's templates. */
export function newClaims(set: StatefulSet, ordinal: number): (ClaimTemplate & { metadata: { namespace: string } })[] {
  return (set.spec.volumeClaimTemplates ?? []).map((template) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...(template.metadata.annotations === undefined ? {} : { annotations: { ...template.metadata.annotations } }),
      namespace: set.metadata.namespace,
      name: claimName(set, template, ordinal),
      labels: { ...template.metadata.labels, ...set.spec.selector.matchLabels },
    },
    spec: structuredClone(template.spec),
  }));
}

function identityLabels(name: string, ordinal: number): Record<string, string> {
  return { [POD_NAME_LABEL]: name, [POD_INDEX_LABEL]: String(ordinal) };
}

function hasClaims(set: StatefulSet, ordinal: number, { spec: { volumes = [] } }: Pod): boolean {
  return (set.spec.volumeClaimTemplates ?? []).every((template) => {
    const volume = volumes.find(({ name }) => name === template.metadata.name);
    return volume?.persistentVolumeClaim?.claimName === claimName(set, template, ordinal);
  });
}

/** Returns the pod's volumes: one for each claim template, and those of the pod template that do not have the name of a claim template. */
function volumesOf(set: StatefulSet, ordinal: number, { volumes = [] }: PodSpec): Pick<PodSpec, 'volumes'> {
  const templates = set.spec.volumeClaimTemplates ?? [];
  if (templates.length === 0) return {};
  const claims = templates.map((template) => ({
    name: template.metadata.name,
    persistentVolumeClaim: { claimName: claimName(set, template, ordinal) },
  }));
  const others = volumes.filter(({ name }) => claims.every((claim) => claim.name !== name));
  return { volumes: [...claims, ...others] };
}
