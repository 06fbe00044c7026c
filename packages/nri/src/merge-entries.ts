import type { FieldName, FieldOwners } from './field-owners.ts';
import { isRemoval, markRemoval, removedKey } from './removal.ts';

/** The plugin requesting changes, the container to change, and the owners of its fields. */
export type Claimant = { owners: FieldOwners; containerId: string; plugin: string };

/**
 * A map or keyed list being adjusted. `current`: its value in the container that the next plugin will receive. `adjusted`: the changes made
 * by all plugins so far.
 */
export type Entries<T> = { current: T; adjusted: T };

type Changes = { removed: Set<string>; set: Set<string> };

/** Makes the plugin the owner of the entries it sets, and records which entries of other plugins it removes. */
function claimEntries({ owners, containerId, plugin }: Claimant, field: FieldName, { removed, set }: Changes): void {
  for (const key of removed)
    if (owners.owner(containerId, field, key) !== undefined) owners.clear(containerId, field, { plugin, key });
  for (const key of set) owners.claim(containerId, field, { plugin, key });
}

/** Merges a plugin's changes to a map in place. */
export function mergeMap<V>(
  claimant: Claimant,
  { field, current, adjusted }: { field: FieldName } & Entries<Record<string, V>>,
  changes: Record<string, V>,
): void {
  const removed = new Set(Object.keys(changes).filter(isRemoval).map(removedKey));
  const set = new Set(Object.keys(changes).filter((key) => !isRemoval(key)));
  claimEntries(claimant, field, { removed, set });
  for (const key of removed) {
    delete current[key];
    delete adjusted[key];
    if (!set.has(key)) adjusted[markRemoval(key)] = changes[markRemoval(key)]!;
  }
  for (const key of set) {
    delete adjusted[markRemoval(key)];
    adjusted[key] = current[key] = changes[key]!;
  }
}

/** Merges a plugin's changes to a keyed list in place. Later entries replace earlier ones with the same key. */
export function mergeList<T>(
  claimant: Claimant,
  { field, current, adjusted, keyOf }: { field: FieldName; keyOf: (entry: T) => string } & Entries<T[]>,
  changes: readonly T[],
): void {
  const removed = new Set(changes.map(keyOf).filter(isRemoval).map(removedKey));
  const added = changes.filter((entry) => !isRemoval(keyOf(entry)));
  const set = new Set(added.map(keyOf));
  claimEntries(claimant, field, { removed, set });
  const stays = (entry: T) => {
    const key = keyOf(entry);
    const plain = isRemoval(key) ? removedKey(key) : key;
    return !removed.has(plain) && !set.has(plain);
  };
  current.splice(0, current.length, ...current.filter(stays), ...added);
  const removals = changes.filter((entry) => {
    const key = keyOf(entry);
    return isRemoval(key) && !set.has(removedKey(key));
  });
  adjusted.splice(0, adjusted.length, ...adjusted.filter(stays), ...added, ...removals);
}
