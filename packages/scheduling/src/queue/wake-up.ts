/** Decides which cluster changes are worth another scheduling attempt. Pure. */
import type { Node, Pod } from '@podwright/kube-api';

/**
 * Whether a node change might allow a pod to run on the node: a new node, or different labels, taints, resources or condition statuses, but
 * not heartbeats.
 */
export function mayHelp(before: Node | undefined, after: Node): boolean {
  return before === undefined || relevant(before) !== relevant(after);
}

function relevant({ metadata, spec, status }: Node): string {
  const { unschedulable = false, taints = [] } = spec ?? {};
  const conditions = (status?.conditions ?? []).map((condition) => [condition.type, condition.status]);
  return JSON.stringify([metadata.labels, unschedulable, taints, status?.allocatable, conditions]);
}

/** Whether more than the status of a pod has changed. */
export function asksForOther(before: Pod, after: Pod): boolean {
  const asked = ({ metadata, spec }: Pod) => JSON.stringify([metadata.labels, spec]);
  return asked(before) !== asked(after);
}
