import type { FieldPath } from '../issue.ts';
import type { Pod } from '../objects/types.ts';
import { podPriority } from '../pods/pod-priority.ts';
import { type Finding, ObjectFindings } from './finding.ts';

/** Returns notes on pod fields that are used only in clusters. Tolerations are not included because a standalone node has no taints. */
export function ignoredFields(pod: Pod, nodeName: string): Finding[] {
  const findings = new ObjectFindings(pod);
  const { spec } = pod;
  const ignored = (path: FieldPath, value: string | number | undefined, why: string) =>
    findings.note(path, `"${value}" is ignored: ${why}`);
  if (spec.nodeName && spec.nodeName !== nodeName)
    ignored(['spec', 'nodeName'], spec.nodeName, `this node is "${nodeName}", and runs the pod`);
  if (spec.schedulerName !== undefined && spec.schedulerName !== 'default-scheduler')
    ignored(['spec', 'schedulerName'], spec.schedulerName, 'a standalone node has no scheduler');
  if (spec.priorityClassName && podPriority(pod) === 0)
    ignored(['spec', 'priorityClassName'], spec.priorityClassName, 'a standalone node has no priority classes');
  if (spec.preemptionPolicy !== undefined)
    ignored(['spec', 'preemptionPolicy'], spec.preemptionPolicy, 'a standalone node has no scheduler');
  if (spec.serviceAccountName && spec.serviceAccountName !== 'default') {
    const field = 'serviceAccountName' in spec ? 'serviceAccountName' : 'serviceAccount';
    ignored(['spec', field], spec.serviceAccountName, 'without an API server there are no service accounts');
  }
  return findings.list;
}

const USED_WITH_API = new Set([
  'schedulerName',
  'priorityClassName',
  'preemptionPolicy',
  'serviceAccountName',
  'serviceAccount',
]);

/**
 * Whether a finding also applies to nodes that serve the Kubernetes API, where service accounts, priority classes and schedulers have an
 * effect.
 */
export const holdsWithApi = ({ severity, path: [first, field] }: Finding): boolean =>
  severity === 'problem' || first !== 'spec' || !USED_WITH_API.has(String(field));
