import type { Pod } from '@podwright/kube-api';

/** Returns the node on which room is being made for a pod (`status.nominatedNodeName`), a field used only by schedulers. */
export function nominatedNode({ status }: Pod): string | undefined {
  const { nominatedNodeName } = (status ?? {}) as { nominatedNodeName?: string };
  return nominatedNodeName === '' ? undefined : nominatedNodeName;
}
