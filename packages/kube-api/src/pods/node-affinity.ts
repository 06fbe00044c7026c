import type { Pod } from '../objects/pod.ts';
import type { NodeSelectorRequirement, NodeSelectorTerm } from '../objects/scheduling.ts';

/** The node's name and labels, which node selectors match against. */
export type SelectableNode = { name: string; labels: Record<string, string> };

/** Whether a node matches the pod's nodeSelector and required node affinity (GetRequiredNodeAffinity in component-helpers). Pure. */
export function wantsNode({ spec }: Pick<Pod, 'spec'>, node: SelectableNode): boolean {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const selected = Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labelOf(node, key) === value);
  return selected && (required === undefined || required.nodeSelectorTerms.some((term) => matchesTerm(term, node)));
}

/** Whether the node matches the term. An empty term matches no node. */
export function matchesTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  node: SelectableNode,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const ofLabels = (requirement: NodeSelectorRequirement) => matches(requirement, labelOf(node, requirement.key));
  return matchExpressions.every(ofLabels) && matchFields.every((requirement) => matches(requirement, node.name));
}

const labelOf = ({ labels }: SelectableNode, key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);

function matches({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return compare(value, values[0], (a, b) => a > b);
    case 'Lt':
      return compare(value, values[0], (a, b) => a < b);
    default: // an operator of a newer API version
      return false;
  }
}

/** Compares two label values as integers. Any other value matches neither Gt nor Lt. */
function compare(a: string | undefined, b: string | undefined, holds: (a: bigint, b: bigint) => boolean): boolean {
  const whole = /^-?\d{1,19}$/;
  return a !== undefined && b !== undefined && whole.test(a) && whole.test(b) && holds(BigInt(a), BigInt(b));
}
