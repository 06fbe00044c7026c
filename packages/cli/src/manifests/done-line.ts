import type { ApplyResult } from '@podwright/node-api';

/** What an apply did with an object, in kubectl's words; a changed pod is another pod. */
export function doneLine({ kind, namespace, name, action }: ApplyResult['objects'][number]): string {
  const label = `${kind.toLowerCase()} ${namespace === '' ? name : `${namespace}/${name}`}`;
  if (action !== 'replaced') return `${label} ${action}`;
  return `${label} configured${kind === 'Pod' ? ': a new pod in its place' : ''}`;
}
