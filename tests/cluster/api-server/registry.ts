/** Objects with the rules of the API: names, versions, preconditions, subresources, finalizers, graceful deletion. */

import { type DeleteOptions, deletionStep } from './deletion.ts';
import { type ApiObject, at, type JsonObject, sameJson } from './json.ts';
import {
  changedMetadata,
  checkMetadata,
  generatedName,
  hasOtherSpec,
  isTerminating,
  mayGo,
  newMetadata,
  now,
} from './object-meta.ts';
import type { ObjectStore, StoreEvent } from './object-store.ts';
import { coreKind, type ResourceKind } from './resource-kinds.ts';
import { ApiError, alreadyExists, CHANGED_MEANWHILE, conflict, invalid, notFound, qualified } from './status-error.ts';
import { strategyOf } from './strategies.ts';
import { ADMIN, type UserInfo } from './user-info.ts';

/** Identifies an object. `namespace` is '' for cluster-scoped objects. */
export type Place = { kind: ResourceKind; namespace: string; name: string };

export type WriteOptions = {
  user?: UserInfo;
  /** Returns the result without storing it. */
  dryRun?: boolean;
  subresource?: string;
  /** Whether the new object was computed from the current one. */
  isPatch?: boolean;
};

/** Completes or rejects a new object before it is stored. */
export type Admission = (object: ApiObject, kind: ResourceKind, user: UserInfo) => ApiObject;

const GENERATE_TRIES = 8;
const NAMESPACES = coreKind('namespaces');

export const tableOf = (kind: ResourceKind): string => qualified(kind);
export const keyOf = ({ namespace, name }: { namespace: string; name: string }): string => `${namespace}/${name}`;

export class Registry {
  readonly store: ObjectStore;
  readonly #admission: Admission;

  constructor({ store, admission = (object) => object }: { store: ObjectStore; admission?: Admission }) {
    this.store = store;
    this.#admission = admission;
  }

  get(place: Place): ApiObject {
    const found = this.find(place);
    if (found === undefined) throw notFound(place.kind, place.name);
    return found;
  }

  find({ kind, ...place }: Place): ApiObject | undefined {
    return this.store.get(tableOf(kind), keyOf(place));
  }

  /** All objects of a kind, ordered by namespace and name. */
  list(kind: ResourceKind, namespace = ''): ApiObject[] {
    return this.store.list(tableOf(kind), namespace === '' ? '' : `${namespace}/`);
  }

  subscribe(kind: ResourceKind, listener: (event: StoreEvent) => void): () => void {
    return this.store.subscribe(tableOf(kind), listener);
  }

  create(kind: ResourceKind, given: ApiObject, { user = ADMIN, dryRun = false }: WriteOptions = {}): ApiObject {
    checkMetadata(kind, given);
    if (given.metadata.resourceVersion)
      throw new ApiError(500, '', { message: 'resourceVersion should not be set on objects to be created' });
    const namespace = given.metadata.namespace ?? '';
    if (kind.namespaced) this.#checkNamespace(kind, given, namespace);
    const strategy = strategyOf(kind);
    const causes = strategy.checkNew(given);
    if (causes.length > 0) throw invalid(kind, given.metadata.name ?? '', causes);
    const date = now();
    const metadata = this.#withFreeName(kind, { ...given, metadata: newMetadata(kind, given, date) });
    const admitted = this.#admission({ ...given, metadata }, kind, user);
    const object = strategy.create(admitted, { user, date });
    return dryRun ? object : this.#put(kind, object);
  }

  #withFreeName(kind: ResourceKind, { metadata }: ApiObject): ApiObject['metadata'] {
    const { namespace = '', generateName } = metadata;
    const isTaken = (name: string) => this.find({ kind, namespace, name }) !== undefined;
    let name = metadata.name!;
    if (generateName)
      for (let tries = 1; isTaken(name) && tries < GENERATE_TRIES; tries++) name = generatedName(generateName);
    if (isTaken(name)) throw alreadyExists(kind, name);
    return { ...metadata, name };
  }

  #checkNamespace(kind: ResourceKind, object: ApiObject, name: string): void {
    const namespace = this.get({ kind: NAMESPACES, namespace: '', name });
    if (!isTerminating(namespace)) return;
    const message = `unable to create new content in namespace ${name} because it is being terminated`;
    const error = `${qualified(kind)} "${object.metadata.name}" is forbidden: ${message}`;
    throw new ApiError(403, 'Forbidden', {
      message: error,
      details: {
        name: object.metadata.name,
        kind: kind.plural,
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${name} is being terminated`,
            field: 'metadata.namespace',
          },
        ],
      },
    });
  }

  /** Updates an object, with the rules of the main resource or of a subresource. */
  update(place: Place, change: (old: ApiObject) => ApiObject, options: WriteOptions = {}): ApiObject {
    const { kind } = place;
    const old = this.get(place);
    const given = change(old);
    checkPreconditions(place, { old, given: given.metadata, isPatch: options.isPatch ?? false });
    const object = this.#changed(place, { given, old, subresource: options.subresource });
    if (options.dryRun) return object;
    if (mayGo(object)) return this.#removeAs(place, object);
    if (sameJson(object, old)) return old;
    return this.#put(kind, object);
  }

  #changed(
    { kind, name }: Place,
    { given, old, subresource = '' }: { given: ApiObject; old: ApiObject; subresource?: string },
  ): ApiObject {
    const strategy = strategyOf(kind);
    const write = subresource === '' ? strategy.update : strategy.subresources[subresource];
    if (write === undefined) throw notFound(kind, `${name}/${subresource}`);
    const written = write(given, old);
    const object = { ...written, metadata: changedMetadata(written, old) };
    checkMetadata(kind, object, old);
    const check = subresource === '' ? strategy.check : (strategy.checks?.[subresource] ?? (() => []));
    const causes = check(object, old);
    if (causes.length > 0) throw invalid(kind, name, causes);
    if (kind.generation && hasOtherSpec(object, old)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    return object;
  }

  /**
   * Deletes an object, or starts to: objects with finalizers and pods with a grace period are marked instead. `gone` is whether the object
   * has been removed.
   */
  delete(place: Place, options: DeleteOptions & WriteOptions = {}): { object: ApiObject; gone: boolean } {
    const { kind } = place;
    const old = this.get(place);
    checkDeletePreconditions(place, old, options.preconditions);
    const step = deletionStep(kind, old, { options, date: now() });
    if (options.dryRun) return { object: old, gone: step.kind === 'remove' };
    switch (step.kind) {
      case 'pending':
        return { object: old, gone: false };
      case 'keep':
        return { object: this.#put(kind, step.object), gone: false };
      case 'remove':
        if (step.marked !== undefined) this.#put(kind, step.marked);
        return { object: this.store.remove(tableOf(kind), keyOf(place))!, gone: true };
    }
  }

  /** Stores the server's own change of an object, without rules. */
  replace({ kind }: Place, object: ApiObject): ApiObject {
    return this.#put(kind, object);
  }

  #removeAs(place: Place, object: ApiObject): ApiObject {
    this.store.remove(tableOf(place.kind), keyOf(place));
    return object;
  }

  #put(kind: ResourceKind, object: ApiObject): ApiObject {
    const { namespace = '', name = '' } = object.metadata;
    return this.store.put(tableOf(kind), keyOf({ namespace, name }), pruned(object));
  }
}

/** A copy as in JSON: without fields that are undefined. */
function pruned(object: ApiObject): ApiObject {
  return JSON.parse(JSON.stringify(object)) as ApiObject;
}

type Preconditions = { old: ApiObject; given: JsonObject; isPatch: boolean };

function checkPreconditions({ kind, name }: Place, { old, given, isPatch }: Preconditions): void {
  const { uid, resourceVersion } = given;
  if (uid && uid !== old.metadata.uid && isPatch)
    throw invalid(kind, name, [
      {
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${JSON.stringify(uid)}: field is immutable`,
        field: 'metadata.uid',
      },
    ]);
  if (uid && uid !== old.metadata.uid)
    throw conflict(
      kind,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`,
    );
  if (resourceVersion && resourceVersion !== old.metadata.resourceVersion)
    throw conflict(kind, name, CHANGED_MEANWHILE);
}

function checkDeletePreconditions({ kind, name }: Place, old: ApiObject, given: DeleteOptions['preconditions']): void {
  const uid = old.metadata.uid;
  if (given?.uid && given.uid !== uid)
    throw conflict(
      kind,
      name,
      `the UID in the precondition (${given.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  const version = at(old, 'metadata', 'resourceVersion');
  if (given?.resourceVersion && given.resourceVersion !== version)
    throw conflict(
      kind,
      name,
      `the ResourceVersion in the precondition (${given.resourceVersion}) does not match the ResourceVersion in record (${String(version)}). The object might have been modified`,
    );
}
