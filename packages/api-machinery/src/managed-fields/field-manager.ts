import { isDeepStrictEqual } from 'node:util';
import { PodwrightError } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';
import type { GroupVersionKind, JsonObject } from '@podwright/kube-schema';
import { timestamp } from '../timestamp.ts';
import { applyConflict } from './apply-conflict.ts';
import { capUpdaters } from './cap-updaters.ts';
import { checkConfiguration, untypedConfiguration } from './configuration.ts';
import { FieldSets } from './field-sets.ts';
import { conflictsAfterLastApplied, KUBECTL, withLastApplied } from './last-applied.ts';
import { withManagedFields, withoutManagedFields } from './object-fields.ts';
import { type AppliedOwners, OwnerUpdater, type OwnerUpdaterOptions } from './owner-updater.ts';
import { identifierOf, type ManagerIdentity, type Owners } from './owners.ts';
import { ownersForApply, ownersForUpdate } from './stored-owners.ts';
import { NO_FIELDS, SYSTEM_FIELDS } from './system-fields.ts';

export type FieldManagerOptions = OwnerUpdaterOptions & {
  kind: GroupVersionKind;
  /** Name of the subresource that is written; '' for the main resource. */
  subresource: string;
  /** An empty object of the kind, including the fields that Go never omits. New objects are compared to it. */
  emptyObject: ApiObject;
  /** Converter with a cache for the field sets. Default: a separate one for this manager. */
  fieldSets?: FieldSets;
};

export type Writing = { manager: string; nowMs: number };

/** The manager that gets ownership of all existing fields when an object is first applied. */
const BEFORE_FIRST_APPLY = 'before-first-apply';

/**
 * Maintains `metadata.managedFields` for writes to one resource or subresource in one API version (apimachinery, util/managedfields). All
 * objects must be in that version; they are not modified.
 */
export class FieldManager {
  readonly #options: FieldManagerOptions;
  readonly #updater: OwnerUpdater;
  readonly #sets: FieldSets;

  constructor(options: FieldManagerOptions) {
    this.#options = options;
    this.#sets = options.fieldSets ?? new FieldSets();
    this.#updater = new OwnerUpdater(options);
  }

  /**
   * Returns the object with its managed fields updated after a create, update or patch. `live`: the stored object, or `undefined` for a
   * create. If the object contains fields that cannot be tracked, such as list elements without keys, all managed fields are removed,
   * because upstream does not reject such writes either.
   */
  update(live: ApiObject | undefined, object: ApiObject, writing: Writing): ApiObject {
    try {
      const owners = ownersForUpdate({ live, object, subresource: this.#options.subresource }, this.#sets);
      // a stored object without managed fields is not tracked until its first apply
      const isTracked = owners.size > 0 || live === undefined;
      const after = isTracked ? this.#updated({ live, object, owners }, writing) : owners;
      return withManagedFields(object, after, this.#sets);
    } catch (error) {
      if (error instanceof PodwrightError) return withoutManagedFields(object);
      throw error;
    }
  }

  /**
   * Applies a configuration to the stored object; `live` is `undefined` if it does not exist. The returned object includes the fields of
   * other owners, but has not been defaulted or normalized. Throws `ApiError`.
   */
  apply(
    live: ApiObject | undefined,
    configuration: JsonObject,
    { force, ...writing }: Writing & { force: boolean },
  ): ApiObject {
    checkConfiguration(configuration, this.#options);
    const before = live === undefined ? this.#options.emptyObject : withoutManagedFields(live);
    const stored = ownersForApply(live, this.#sets);
    const owners = stored.size > 0 ? stored : this.#firstOwners(before, writing.nowMs);
    const { manager, nowMs } = writing;
    const identity = this.#identity(manager, 'Apply');
    const applied = this.#applied({ live: before, owners, configuration, force }, identity);
    if ('conflicts' in applied) throw applyConflict(applied.conflicts, owners);
    const isChanged = !isDeepStrictEqual(applied.object, before);
    const written = finished(applied.owners, identifierOf(identity), isChanged ? timestamp(nowMs) : undefined);
    const object = withManagedFields(applied.object as ApiObject, written, this.#sets);
    return manager === KUBECTL ? withLastApplied(object, configuration) : object;
  }

  #updated(change: { live: ApiObject | undefined; object: ApiObject; owners: Owners }, { manager, nowMs }: Writing) {
    const live = change.live === undefined ? this.#options.emptyObject : withoutManagedFields(change.live);
    const object = withoutManagedFields(change.object);
    const { owners, changed } = this.#updater.update({ live, object, owners: change.owners });
    const taken = changed?.difference(SYSTEM_FIELDS) ?? NO_FIELDS;
    if (taken.isEmpty) return capUpdaters(owners);
    const identity = this.#identity(manager, 'Update');
    const identifier = identifierOf(identity);
    const fields = taken.union(owners.get(identifier)?.fields ?? NO_FIELDS);
    return capUpdaters(owners.set(identifier, { ...identity, fields, time: timestamp(nowMs) }));
  }

  /** Returns a single owner of all existing fields, for an object that has not been tracked so far. */
  #firstOwners(live: ApiObject, nowMs: number): Owners {
    const change = { live: undefined, object: live, owners: new Map() };
    return this.#updated(change, { manager: BEFORE_FIRST_APPLY, nowMs });
  }

  #applied({ owners, ...change }: Applying, identity: ManagerIdentity): AppliedOwners {
    const identifier = identifierOf(identity);
    const before = owners.get(identifier) ?? { ...identity, fields: NO_FIELDS };
    const all = new Map(owners).set(identifier, { ...before, apiVersion: identity.apiVersion });
    try {
      const applied = this.#updater.apply({ ...change, owners: all, identifier });
      if (!('conflicts' in applied) || identity.manager !== KUBECTL) return applied;
      const { apiVersion } = identity;
      const options = { live: change.live, apiVersion, updater: this.#updater };
      const conflicts = conflictsAfterLastApplied(applied.conflicts, options);
      if (conflicts.length > 0) return { conflicts };
      return this.#updater.apply({ ...change, owners: all, identifier, force: true });
    } catch (error) {
      if (!(error instanceof PodwrightError)) throw error;
      throw untypedConfiguration(change.configuration, this.#options.kind, [error.message]);
    }
  }

  #identity(manager: string, operation: ManagerIdentity['operation']): ManagerIdentity {
    const { apiVersion, subresource } = this.#options;
    return { manager: manager === '' ? 'unknown' : manager, operation, apiVersion, subresource };
  }
}

type Applying = { live: ApiObject; owners: Owners; configuration: JsonObject; force: boolean };

/**
 * Removes system fields from the fields that the writing manager owns, and sets that manager's time. If `time` is `undefined`, its previous
 * time is retained.
 */
function finished(owners: Owners, identifier: string, time: string | undefined): Owners {
  const result = new Map(owners);
  const writer = result.get(identifier);
  const fields = writer?.fields.difference(SYSTEM_FIELDS) ?? NO_FIELDS;
  if (writer === undefined || fields.isEmpty) result.delete(identifier);
  else result.set(identifier, { ...writer, fields, ...(time === undefined ? {} : { time }) });
  return result;
}
