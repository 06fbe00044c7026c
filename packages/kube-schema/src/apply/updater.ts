/**
 * Field management: which manager owns which fields of an object, for server-side apply and for updates (structured-merge-diff,
 * merge.Updater). All sets must be in the object's own API version; the caller omits or converts managers that use other versions.
 */
import type { JsonObject } from '../json.ts';
import type { StructType } from '../schema/field.ts';
import type { Schema } from '../schema/schema.ts';
import { type Comparison, compareObjects } from './compare.ts';
import { FieldSet } from './field-set.ts';
import { mergeApplied } from './merge.ts';
import { type Node, structNode } from './node.ts';
import { formatElements } from './path-element.ts';
import { removeItems } from './remove-items.ts';
import { toFieldSet, withAtomicFields, withNamedFields } from './to-field-set.ts';

/**
 * The fields that a manager owns. `isApplied`: the manager owns them through server-side apply and so can remove fields by omitting them.
 */
export type Manager = { fields: FieldSet; isApplied: boolean };

/** Managers, keyed as the caller chooses. The same manager with a different operation or subresource must have a different key. */
export type Managers = ReadonlyMap<string, Manager>;

/** A field that would be changed by an apply but is owned by another manager. */
export type ApplyConflict = { manager: string; field: string };

export type Applied = { object: JsonObject; managers: Managers } | { conflicts: ApplyConflict[] };

type Change = {
  /** The stored object to which the change is applied; `{}` if none exists yet. */
  live: JsonObject;
  managers: Managers;
  /** The field manager that makes the change. */
  manager: string;
};

/** Applies changes to objects of one kind and tracks the owners of their fields. */
export class FieldUpdater {
  readonly #node: Node;
  readonly #ignored: FieldSet;

  /** `ignored`: fields that no manager may own, including everything below them; for example, `status` for writes to the main resource. */
  constructor({ schema, type, ignored = new FieldSet() }: { schema: Schema; type: StructType; ignored?: FieldSet }) {
    this.#node = structNode(schema, type);
    this.#ignored = ignored;
  }

  /**
   * Applies a configuration. Removes fields that the manager applied before and now omits, unless another manager owns them. With `force`,
   * the manager takes ownership of conflicting fields; otherwise, conflicts are returned. Throws `invalid_argument` for list elements with
   * missing or duplicate keys.
   */
  apply({
    live,
    configuration,
    managers: given,
    manager,
    force,
  }: Change & { configuration: JsonObject; force: boolean }): Applied {
    const managers = this.#reconciled(given);
    const merged = mergeApplied(this.#node, live, configuration) as JsonObject;
    const fields = toFieldSet(this.#node, configuration).recursiveDifference(this.#ignored);
    const applied = new Map(managers).set(manager, { fields, isApplied: true });
    const object = this.#prune(merged, applied, managers.get(manager)?.fields);
    const comparison = this.#compare(live, object);
    const conflicts = force ? [] : conflictsOf(comparison, applied, manager);
    return conflicts.length > 0 ? { conflicts } : { object, managers: transferred(comparison, applied, manager) };
  }

  /** Returns the managers after a create, update or patch. The writing manager owns the fields that it changed. */
  update({ live, object, managers, manager }: Change & { object: JsonObject }): Managers {
    const comparison = this.#compare(live, object);
    const { added, modified, removed } = comparison;
    const result = transferred(comparison, this.#reconciled(managers), manager);
    const before = result.get(manager)?.fields ?? new FieldSet();
    const fields = before.difference(removed).union(modified).union(added).recursiveDifference(this.#ignored);
    if (fields.isEmpty) result.delete(manager);
    else result.set(manager, { fields, isApplied: false });
    return result;
  }

  /**
   * Returns the fields of a configuration that have the same values in an object, formatted like `ApplyConflict.field`. Throws
   * `invalid_argument` for list elements without keys.
   */
  unchangedFields(configuration: JsonObject, object: JsonObject): Set<string> {
    const { added, modified, removed } = compareObjects(this.#node, configuration, object);
    const unchanged = toFieldSet(this.#node, configuration).difference(added.union(modified).union(removed));
    return new Set([...unchanged.paths()].map(formatElements));
  }

  #reconciled(managers: Managers): Managers {
    const reconciled = [...managers].map(
      ([name, manager]) => [name, { ...manager, fields: withAtomicFields(manager.fields, this.#node) }] as const,
    );
    return new Map(reconciled);
  }

  #compare(before: JsonObject, after: JsonObject): Comparison {
    const { added, modified, removed } = compareObjects(this.#node, before, after);
    const owned = (set: FieldSet) => set.recursiveDifference(this.#ignored);
    return { added: owned(added), modified: owned(modified), removed: owned(removed) };
  }

  /** Removes the fields that the manager previously applied but no longer does, and that no other manager owns. */
  #prune(merged: JsonObject, managers: Managers, last: FieldSet | undefined): JsonObject {
    if (last === undefined || last.isEmpty) return merged;
    const named = (set: FieldSet) => withNamedFields(set, this.#node);
    const fieldsOf = (value: unknown) => named(toFieldSet(this.#node, value));
    const owned = [...managers.values()].reduce((set, { fields }) => set.union(fields), new FieldSet());
    const all = fieldsOf(merged);
    const withoutLast = fieldsOf(removeItems(this.#node, merged, named(last)));
    const withOwned = fieldsOf(removeItems(this.#node, merged, all.difference(withoutLast.union(named(owned)))));
    const dropped = all.difference(withOwned).intersection(named(last));
    return (removeItems(this.#node, merged, dropped) ?? {}) as JsonObject;
  }
}

function conflictsOf({ added, modified }: Comparison, managers: Managers, applying: string): ApplyConflict[] {
  const changed = added.union(modified);
  return [...managers]
    .filter(([manager]) => manager !== applying)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([manager, { fields }]) =>
      [...fields.intersection(changed).paths()].map((path) => ({ manager, field: formatElements(path) })),
    );
}

/**
 * Returns the managers after `changing` has changed the object. Other managers lose the fields that it changed; managers that own no fields
 * are omitted.
 */
function transferred(
  { added, modified, removed }: Comparison,
  managers: Managers,
  changing: string,
): Map<string, Manager> {
  const changed = added.union(modified);
  const result = new Map<string, Manager>();
  for (const [name, { fields, isApplied }] of managers) {
    const isOther = name !== changing;
    const remaining = isOther ? fields.difference(fields.intersection(changed)).difference(removed) : fields;
    if (!remaining.isEmpty) result.set(name, { fields: remaining, isApplied });
  }
  return result;
}
