import type { StoredObject } from '../store/stored-object.ts';
import { keyIn } from './keys.ts';
import type { ResourceParts } from './resource-parts.ts';
import type { Selection } from './selection.ts';

/** A position in a list: after the given key, in the state at the given revision. Without a revision, in the latest state. */
export type Position = { revision?: number; after?: string };

/** Returns the selected objects after a position, in the storage version. Throws the store's errors. */
export function readSelected(
  parts: ResourceParts,
  selection: Selection,
  position: Position = {},
): { revision: number; objects: StoredObject[] } {
  const { revision, objects } = readCandidates(parts, selection, position);
  if (!selection.isFiltered) return { revision, objects };
  return { revision, objects: objects.filter((one) => selection.matches(one.decode())) };
}

/**
 * Reads the objects that may match: a single object if only one name can match; otherwise those found through the index or in the
 * namespace.
 */
function readCandidates({ store, kind }: ResourceParts, selection: Selection, { revision, after }: Position) {
  const { namespace, name, index } = selection;
  const isSingle = name !== undefined && (namespace !== undefined || !kind.resource.namespaced);
  if (isSingle && revision === undefined && after === undefined) {
    const object = store.get(keyIn(kind, namespace ?? '', name));
    return { revision: store.revision, objects: object === undefined ? [] : [object] };
  }
  const continuation = after === undefined ? undefined : { revision: revision ?? store.revision, after };
  return store.list(kind.storeResource, { namespace, index, revision, continuation });
}
