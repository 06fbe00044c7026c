import type { ApplyResult } from '@podwright/node-api';

/** Formats the result of applying an object, worded as in kubectl. A changed pod is replaced with a new one. */
export function doneLine({ kind, namespace, name, action }: ApplyResult['objects'][number]): string {
  const label = `${kind.toLowerCase()} ${namespace === '' ? name : `${namespace}/${name}`}`;
  if (action !== 'replaced') return `${label} ${action}`;
  return `${label} configured${kind === 'Pod' ? ': replaced by a new pod' : ''}`;
}
