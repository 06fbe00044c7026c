import type { Pod } from '@podwright/kube-api';

/** Returns the node on which room is being made for a pod (`status.nominatedNodeName`), which only schedulers read. */
export function nominatedNode({ status }: Pod): string | undefined {
  const { nominatedNodeName } = (status ?? {}) as { nominatedNodeName?: string };
  return nominatedNodeName === '' ? undefined : nominatedNodeName;
}
