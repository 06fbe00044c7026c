import type { StoreEvent } from './object-store.ts';
import type { StoredObject } from './stored-object.ts';

/**
 * Restores an earlier state of the selected objects by undoing events. `present`: their current state. `events`: all events since the
 * earlier state, oldest first. The result is sorted by key.
 */
export function stateBefore(
  events: readonly StoreEvent[],
  present: StoredObject[],
  isSelected: (object: StoredObject) => boolean,
): StoredObject[] {
  if (events.length === 0) return present;
  const earlier = new Map<string, StoredObject | undefined>();
  for (const { object, previous } of events) if (!earlier.has(object.key)) earlier.set(object.key, previous);
  const unchanged = present.filter(({ key }) => !earlier.has(key));
  const changed = [...earlier.values()].filter((object) => object !== undefined && isSelected(object));
  return [...unchanged, ...(changed as StoredObject[])].sort((one, other) => (one.key < other.key ? -1 : 1));
}
