import type { ApplyResult } from '@podwright/node-api';

/** The result of an apply for an object, in kubectl's words. A changed pod is replaced by a new one. */
export function doneLine({ kind, namespace, name, action }: ApplyResult['objects'][number]): string {
  const label = `${kind.toLowerCase()} ${namespace === '' ? name : `${namespace}/${name}`}`;
  if (action !== 'replaced') return `${label} ${action}`;
  return `${label} configured${kind === 'Pod' ? ': replaced by a new pod' : ''}`;
}
