import type { StoredObject } from '../store/stored-object.ts';
import { inSlices, type SliceOptions } from './in-slices.ts';
import { keyIn } from './keys.ts';
import type { ResourceParts } from './resource-parts.ts';
import type { Selection } from './selection.ts';

/** A position in a list: after the key `after`, in the store as of `revision`. Default for `revision`: the latest one. */
export type Position = { revision?: number; after?: string };

/**
 * Returns the selected objects after a position, in the storage version and all as of the same revision. With `limit`, might stop early,
 * but not before it has found more objects than the limit. Rejects with the store's errors.
 */
export async function readSelected(
  parts: ResourceParts,
  selection: Selection,
  { position = {}, ...slices }: SliceOptions & { position?: Position } = {},
): Promise<{ revision: number; objects: StoredObject[] }> {
  const { revision, objects } = readCandidates(parts, selection, position);
  if (!selection.isFiltered) return { revision, objects };
  const matching = (one: StoredObject) => (selection.matches(one.decode()) ? [one] : []);
  return { revision, objects: await inSlices(objects, matching, slices) };
}

/** Converts objects to the served version. */
export async function servedObjects(
  { kind }: ResourceParts,
  objects: StoredObject[],
  slices: SliceOptions = {},
): Promise<StoredObject[]> {
  return kind.conversion === undefined ? objects : inSlices(objects, (one) => [kind.served(one)], slices);
}

/**
 * Reads the objects that can match a selection: a single object if only one name can match, otherwise all objects found through the index
 * or in the namespace.
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
