import type { Pod } from '@podwright/kube-api';

/**
 * Returns the node where other pods are being preempted in favor of this pod (`status.nominatedNodeName`); only schedulers use that field.
 */
export function nominatedNode({ status }: Pod): string | undefined {
  const { nominatedNodeName } = (status ?? {}) as { nominatedNodeName?: string };
  return nominatedNodeName === '' ? undefined : nominatedNodeName;
}
