import { MASTERS } from '@podwright/kube-kinds';
import type { RequestContext } from '../request-context.ts';
import type { SpaceClass } from '../store/object-store.ts';

/** Upstream's group for nodes (apiserver, authentication/user). */
const NODES = 'system:nodes';

/** Resources for node heartbeats. Their number is bounded by the number of nodes, so they need no limit. */
const HEARTBEATS = ['nodes', 'leases.coordination.k8s.io', 'csinodes.storage.k8s.io'];
const EVENTS = ['events', 'events.events.k8s.io'];

/**
 * Returns how much of the store's space a write may use. When users have filled the ordinary space, nodes and controllers can still write
 * statuses and events to the reserve, which keeps nodes working and allows objects to be deleted.
 */
export function spaceOf(
  resource: string,
  operation: 'create' | 'update',
  { user }: Pick<RequestContext, 'user'>,
): SpaceClass {
  const isNode = user.groups.includes(NODES);
  if (!isNode && !user.groups.includes(MASTERS)) return 'ordinary';
  if (HEARTBEATS.includes(resource)) return 'unbounded';
  if (EVENTS.includes(resource)) return 'half-reserve';
  if (operation === 'create') return 'ordinary';
  return isNode ? 'reserve' : 'half-reserve';
}
