/** The garbage collector's steps for a single object. `collectDependent` and `completeOwner` return further objects to check. */

import { FOREGROUND, ORPHAN } from '@podwright/api-machinery';
import { EventLoopBudget } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';
import type { ControllerParts } from './controller-parts.ts';
import { type OwnerReference, ownersOf } from './dependents.ts';
import { type Location, textOf } from './location.ts';

export type OwnerLookup = {
  /** Returns where the owner of an object in the namespace would be stored, or `undefined` if the server does not have its kind. */
  locate: (owner: { apiVersion: string; kind: string; name: string }, namespace: string) => Location | undefined;
};

type Parts = ControllerParts & OwnerLookup;

/** State of an owner: it exists, is waiting for its dependents to be deleted, or is missing. */
type OwnerState = 'solid' | 'waiting' | 'missing';

const finalizersOf = ({ metadata }: ApiObject): readonly string[] => metadata.finalizers ?? [];

/**
 * Deletes an object without a live owner; otherwise removes its references to owners that are missing or are waiting for their dependents
 * to be deleted.
 */
export async function collectDependent(
  parts: Parts,
  { location, object, hasDependents }: { location: Location; object: ApiObject; hasDependents: boolean },
): Promise<Location[]> {
  const states = new Map(ownersOf(object).map((owner) => [owner, stateOf(parts, owner, location.namespace)]));
  const uidsIn = (state: OwnerState) => [...states].flatMap(([{ uid }, one]) => (one === state ? [uid] : []));
  if (states.size === 0) return [];
  const obsolete = [...uidsIn('missing'), ...uidsIn('waiting')];
  if (uidsIn('solid').length > 0) {
    if (obsolete.length > 0) await removeOwners(parts, location, obsolete);
    return [];
  }
  const { uid } = object.metadata;
  const isForeground = uidsIn('waiting').length > 0 && hasDependents;
  const own = finalizersOf(object).includes(ORPHAN) ? 'Orphan' : 'Background';
  const policy = isForeground || finalizersOf(object).includes(FOREGROUND) ? 'Foreground' : own;
  const { resource, ...place } = location;
  const options = { propagationPolicy: policy, preconditions: { uid } } as const;
  await parts.registryOf(resource).delete(place, options, parts.context());
  return [];
}

export type OwnerToComplete = {
  location: Location;
  object: ApiObject;
  dependents: readonly Location[];
  /** Returns the objects whose owner references contain this UID. */
  dependentsOf: (owner: Location, uid: string) => readonly Location[];
};

/**
 * Whether an owner reference in an object of this namespace refers to the given owner. Comparing UIDs is not enough, because a reference
 * may contain the UID of an object in a different namespace.
 */
export function refersTo(
  { locate }: OwnerLookup,
  { reference, namespace }: { reference: OwnerReference; namespace: string },
  { location, uid }: { location: Location; uid: string },
): boolean {
  if (reference.uid !== uid) return false;
  const owner = locate(reference, namespace);
  return owner !== undefined && textOf(owner) === textOf(location);
}

/** Orphans or deletes the dependents of an object that is being deleted, and then lets the object be removed. */
export async function completeOwner(
  parts: Parts,
  { location, object, dependents, dependentsOf }: OwnerToComplete,
): Promise<Location[]> {
  const { uid = '' } = object.metadata;
  if (finalizersOf(object).includes(ORPHAN)) {
    const budget = new EventLoopBudget();
    for (const dependent of dependents) {
      if (budget.isSpent) await budget.renew();
      await removeOwners(parts, dependent, [uid]);
    }
    await removeFinalizer(parts, location, ORPHAN);
    return [];
  }
  if (!finalizersOf(object).includes(FOREGROUND)) return [];
  const blocking = dependents.filter(
    (one) => blocks(parts, one, { location, uid }) && !waitsFor(parts, one, { uid, dependentsOf }),
  );
  if (blocking.length === 0) await removeFinalizer(parts, location, FOREGROUND);
  return dependents.filter((one) => parts.store.get(one)?.decode().metadata.deletionTimestamp === undefined);
}

function stateOf({ store, locate }: Parts, owner: OwnerReference, namespace: string): OwnerState {
  const location = locate(owner, namespace);
  if (location === undefined) return 'solid'; // of an unknown kind: nothing is known about it
  const object = store.get(location)?.decode();
  if (object === undefined || object.metadata.uid !== owner.uid) return 'missing';
  return isWaiting(object) ? 'waiting' : 'solid';
}

/** Whether an object is being deleted in the foreground, that is, remains until its dependents are deleted. */
const isWaiting = (object: ApiObject) =>
  object.metadata.deletionTimestamp !== undefined && finalizersOf(object).includes(FOREGROUND);

function blocks(parts: Parts, dependent: Location, owner: { location: Location; uid: string }): boolean {
  const object = parts.store.get(dependent)?.decode();
  const { namespace } = dependent;
  const isBlocking = (reference: OwnerReference) =>
    reference.blockOwnerDeletion === true && refersTo(parts, { reference, namespace }, owner);
  return object !== undefined && ownersOf(object).some(isBlocking);
}

/**
 * Whether a dependent waits, directly or through its own dependents, for the deletion of its owner. In such a cycle of owners, each object
 * would wait for the next one forever.
 */
function waitsFor(
  { store }: Parts,
  dependent: Location,
  { uid, dependentsOf }: { uid: string } & Pick<OwnerToComplete, 'dependentsOf'>,
): boolean {
  const seen = new Set<string>();
  for (const waiting = [dependent]; waiting.length > 0; ) {
    const location = waiting.pop()!;
    const object = store.get(location)?.decode();
    const own = object?.metadata.uid ?? '';
    if (object === undefined || seen.has(own)) continue;
    if (own === uid) return true;
    seen.add(own);
    if (isWaiting(object)) waiting.push(...dependentsOf(location, own));
  }
  return false;
}

async function removeOwners({ registryOf, context }: Parts, { resource, ...place }: Location, uids: readonly string[]) {
  const without = (object: ApiObject): ApiObject => {
    const others = ownersOf(object).filter(({ uid }) => !uids.includes(uid));
    return withMetadata(object, 'ownerReferences', others);
  };
  await registryOf(resource).change(place, without, context());
}

async function removeFinalizer({ registryOf, context }: Parts, { resource, ...place }: Location, finalizer: string) {
  const without = (object: ApiObject): ApiObject =>
    withMetadata(
      object,
      'finalizers',
      finalizersOf(object).filter((one) => one !== finalizer),
    );
  await registryOf(resource).change(place, without, context());
}

function withMetadata(object: ApiObject, field: string, list: readonly unknown[]): ApiObject {
  const { [field]: _, ...metadata } = object.metadata;
  return { ...object, metadata: list.length === 0 ? metadata : { ...metadata, [field]: list } } as ApiObject;
}
