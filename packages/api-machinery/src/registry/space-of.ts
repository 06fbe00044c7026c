import type { RequestContext } from '../request-context.ts';
import type { SpaceClass } from '../store/object-store.ts';

/** Groups of upstream's user names (apiserver, authentication/user). */
const MASTERS = 'system:masters';
const NODES = 'system:nodes';

/** Objects with which a node shows that it is alive. Their number is that of nodes, not of what users want. */
const OF_NODES = ['nodes', 'leases.coordination.k8s.io', 'csinodes.storage.k8s.io'];
const EVENTS = ['events', 'events.events.k8s.io'];

/**
 * Returns how much space of the store a write may use. Once users have filled theirs, nodes and controllers can still write statuses and
 * events, so that the node goes on, and so does the deletion of objects.
 */
export function spaceOf(
  resource: string,
  operation: 'create' | 'update',
  { user }: Pick<RequestContext, 'user'>,
): SpaceClass {
  const isNode = user.groups.includes(NODES);
  if (!isNode && !user.groups.includes(MASTERS)) return 'ordinary';
  if (OF_NODES.includes(resource)) return 'unbounded';
  if (EVENTS.includes(resource)) return 'half-reserve';
  if (operation === 'create') return 'ordinary';
  return isNode ? 'reserve' : 'half-reserve';
}
