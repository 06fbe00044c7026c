/** Whether a DaemonSet should run on a node (NodeShouldRunDaemonPod in upstream's daemon_controller.go). */
import type { Node, NodeSelectorRequirement, NodeSelectorTerm, PodSpec, Taint, Toleration } from '@podwright/kube-api';
import { withDaemonTolerations } from './daemon-pod.ts';

export type NodeFit = {
  /** Whether a pod should be started there. */
  shouldRun: boolean;
  /** Whether a pod that is there already may stay. */
  mayStay: boolean;
};

export function nodeFit(template: PodSpec, node: Node): NodeFit {
  const never = { shouldRun: false, mayStay: false };
  const { nodeName = '' } = template;
  if ((nodeName !== '' && nodeName !== node.metadata.name) || !matchesNode(template, node)) return never;
  const { tolerations = [] } = withDaemonTolerations(template);
  const untolerated = (node.spec?.taints ?? []).filter((taint) => !tolerations.some((one) => tolerates(one, taint)));
  const isRepelled = (...effects: string[]) => untolerated.some(({ effect }) => effects.includes(effect));
  return { shouldRun: !isRepelled('NoSchedule', 'NoExecute'), mayStay: !isRepelled('NoExecute') };
}

/** Whether the node has the labels of the node selector and one of the required terms. */
function matchesNode({ nodeSelector = {}, affinity }: PodSpec, { metadata }: Node): boolean {
  const { labels = {}, name = '' } = metadata;
  if (Object.entries(nodeSelector).some(([key, value]) => labels[key] !== value)) return false;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  return required.nodeSelectorTerms.some(({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm) => {
    if (matchExpressions.length + matchFields.length === 0) return false;
    const fields = { 'metadata.name': name };
    return (
      matchExpressions.every((requirement) => meets(requirement, labels)) &&
      matchFields.every((requirement) => meets(requirement, fields))
    );
  });
}

function meets({ key, operator, values = [] }: NodeSelectorRequirement, labels: Record<string, string>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  if (operator === 'Exists') return value !== undefined;
  if (operator === 'DoesNotExist') return value === undefined;
  if (operator === 'NotIn') return value === undefined || !values.includes(value);
  if (value === undefined) return false;
  if (operator === 'In') return values.includes(value);
  const [bound = ''] = values;
  if (![value, bound].every((one) => /^-?\d+$/.test(one))) return false;
  return operator === 'Gt' ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
}

function tolerates({ key = '', operator, value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return key !== '' && (operator === undefined || operator === 'Equal') && value === (taint.value ?? '');
}
