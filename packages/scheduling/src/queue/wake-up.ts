/** Which changes are worth another attempt. Pure. */
import type { Node, Pod } from '@podwright/kube-api';

/** Whether a change of a node may let a pod run there: a new node, or other labels, taints, resources, states of conditions. Heartbeats do not. */
export function mayHelp(before: Node | undefined, after: Node): boolean {
  return before === undefined || relevant(before) !== relevant(after);
}

function relevant({ metadata, spec, status }: Node): string {
  const { unschedulable = false, taints = [] } = spec ?? {};
  const conditions = (status?.conditions ?? []).map((condition) => [condition.type, condition.status]);
  return JSON.stringify([metadata.labels, unschedulable, taints, status?.allocatable, conditions]);
}

/** Whether a pod was changed otherwise than by a report of its status. */
export function asksForOther(before: Pod, after: Pod): boolean {
  const asked = ({ metadata, spec }: Pod) => JSON.stringify([metadata.labels, spec]);
  return asked(before) !== asked(after);
}
