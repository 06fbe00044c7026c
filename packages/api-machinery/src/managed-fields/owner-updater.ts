import {
  type ApplyConflict,
  type FieldSet,
  FieldUpdater,
  formatElements,
  type JsonObject,
  type Managers,
  type Schema,
  type StructType,
} from '@podwright/kube-schema';
import type { Owner, Owners } from './owners.ts';

/** Another served version of the kind, in which managers might own fields. */
export type OtherVersion = {
  type: StructType;
  /** Converts an object from the request's version to this version. */
  convert: (object: JsonObject) => JsonObject;
};

export type OwnerUpdaterOptions = {
  schema: Schema;
  type: StructType;
  /** The API version of the request and of all objects passed in. */
  apiVersion: string;
  /** Fields that managers cannot own through this resource or subresource. */
  ignored?: FieldSet;
  /** The other served versions, by `apiVersion`. */
  otherVersions?: ReadonlyMap<string, OtherVersion>;
};

type Change = { live: JsonObject; owners: Owners };

export type AppliedOwners = { object: JsonObject; owners: Map<string, Owner> } | { conflicts: ApplyConflict[] };

/** Temporary manager that owns the changed fields during the comparison. */
const WRITER = 'writer';

/**
 * Updates field ownership across API versions. Each owner's fields are compared in the owner's version. As in upstream, owners lose their
 * fields once their version is no longer served.
 */
export class OwnerUpdater {
  readonly #apiVersion: string;
  readonly #updater: FieldUpdater;
  readonly #others: [version: string, updater: FieldUpdater, convert: OtherVersion['convert']][];

  constructor({ schema, type, apiVersion, ignored, otherVersions = new Map() }: OwnerUpdaterOptions) {
    this.#apiVersion = apiVersion;
    this.#updater = new FieldUpdater({ schema, type, ignored });
    this.#others = [...otherVersions].map(([version, other]) => [
      version,
      new FieldUpdater({ schema, type: other.type, ignored }),
      other.convert,
    ]);
  }

  /** Returns the owners after a write other than an apply. `changed`: the fields added or modified by the write. */
  update({ live, object, owners }: Change & { object: JsonObject }): {
    owners: Map<string, Owner>;
    changed?: FieldSet;
  } {
    const own = managersOf(owners, this.#apiVersion);
    const managers = this.#updater.update({ live, object, managers: own, manager: WRITER });
    const remaining = new Map([...ownersOf(managers, owners), ...this.#otherOwners({ live, object, owners })]);
    return { owners: remaining, changed: managers.get(WRITER)?.fields };
  }

  /**
   * Applies an owner's configuration. `owners` must include the owner, even if it owns no fields yet. Conflicts refer to managers by
   * identifier. Throws `invalid_argument` if list elements lack their keys.
   */
  apply(change: Change & { configuration: JsonObject; identifier: string; force: boolean }): AppliedOwners {
    const { live, owners, configuration, identifier, force } = change;
    const own = managersOf(owners, this.#apiVersion);
    const applied = this.#updater.apply({ live, configuration, managers: own, manager: identifier, force });
    if ('conflicts' in applied) return applied;
    const { object, managers } = applied;
    const others = this.#otherOwners({ live, object, owners });
    const conflicts = force ? [] : this.#lostFields(owners, others);
    if (conflicts.length > 0) return { conflicts };
    return { object, owners: new Map([...ownersOf(managers, owners), ...others]) };
  }

  /** Returns the fields of an applied configuration whose values the object already has (see `FieldUpdater.unchangedFields`). */
  unchangedFields(configuration: JsonObject, object: JsonObject): ReadonlySet<string> {
    return this.#updater.unchangedFields(configuration, object);
  }

  /** Returns the owners whose fields are in other API versions than the request, with their fields updated for a write. */
  #otherOwners({ live, object, owners }: Change & { object: JsonObject }): Map<string, Owner> {
    const result = new Map<string, Owner>();
    for (const [version, updater, convert] of this.#others) {
      const managers = managersOf(owners, version);
      if (managers.size === 0) continue;
      const change = { live: convert(live), object: convert(object), managers, manager: WRITER };
      for (const [id, owner] of ownersOf(updater.update(change), owners)) result.set(id, owner);
    }
    return result;
  }

  /** Returns the fields that owners in other API versions would lose in the write, as conflicts. */
  #lostFields(before: Owners, after: Owners): ApplyConflict[] {
    const versions = this.#others.map(([version]) => version);
    return [...before]
      .filter(([, { apiVersion }]) => versions.includes(apiVersion))
      .flatMap(([manager, { fields }]) => {
        const remaining = after.get(manager)?.fields;
        const lost = remaining === undefined ? fields : fields.difference(remaining);
        return [...lost.paths()].map((path) => ({ manager, field: formatElements(path) }));
      });
  }
}

function managersOf(owners: Owners, version: string): Managers {
  const included = [...owners].filter(([, { apiVersion }]) => apiVersion === version);
  return new Map(
    included.map(([identifier, { fields, operation }]) => [identifier, { fields, isApplied: operation === 'Apply' }]),
  );
}

/** Converts field managers back to owners. Omits the temporary manager `WRITER`. */
function ownersOf(managers: Managers, owners: Owners): Map<string, Owner> {
  const result = new Map<string, Owner>();
  for (const [identifier, { fields }] of managers) {
    const owner = owners.get(identifier);
    if (owner !== undefined) result.set(identifier, { ...owner, fields });
  }
  return result;
}
