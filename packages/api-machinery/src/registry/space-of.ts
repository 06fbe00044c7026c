import { MASTERS } from '@podwright/kube-kinds';
import type { RequestContext } from '../request-context.ts';
import type { SpaceClass } from '../store/object-store.ts';

/** The group of nodes in upstream (apiserver, authentication/user). */
const NODES = 'system:nodes';

/** Resources of the heartbeats of nodes. Their number is bounded by that of nodes, so they need no limit. */
const HEARTBEATS = ['nodes', 'leases.coordination.k8s.io', 'csinodes.storage.k8s.io'];
const EVENTS = ['events', 'events.events.k8s.io'];

/**
 * Returns how much space of the store a write may use. When users have filled the ordinary space, nodes and controllers can still write
 * statuses and events into the reserve, so that nodes keep working and objects can be deleted.
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
