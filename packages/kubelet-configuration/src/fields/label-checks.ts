import { must } from './checks.ts';
import type { GivenTaint } from './taint-type.ts';

/** Namespaces and names of the Kubernetes labels that a kubelet may set on its own Node (kubelet/pkg/apis/well_known_labels.go). */
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

export const nodeLabelProblems = (labels: Record<string, string>) =>
  Object.entries(labels).flatMap(([key, value]) => [
    ...must(
      mayBeSet(key),
      `${key}: a kubelet may not set this label of Kubernetes on its node; it may set labels of ${LABEL_NAMESPACES.join(', ')}, and ${LABELS.join(', ')}`,
    ),
    ...must(isQualifiedName(key), `${key.slice(0, 100)} is not a valid label name`),
    ...must(isLabelValue(value), `${value.slice(0, 100)} is not a valid label value`),
  ]);

export const taintProblems = ({ key, value = '' }: GivenTaint) =>
  must(
    isQualifiedName(key) && isLabelValue(value),
    `${key.slice(0, 100)}: key and value must be valid as those of labels`,
  );

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
