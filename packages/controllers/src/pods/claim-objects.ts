/**
 * Decides which objects a controller owns, adopts or releases (upstream's ControllerRefManager, pkg/controller/controller_ref_manager.go).
 */
import { EventLoopBudget } from '@podwright/base';
import { type KubeObject, type LabelSelector, matchesLabelSelector, type Resource } from '@podwright/kube-api';
import { isApiStatus } from '@podwright/kube-client';
import type { ControllerParts } from '../framework/controller.ts';
import { controllerOf, controllerReference, type Owner } from './controller-reference.ts';

export type Claim<T extends KubeObject> = {
  /** Objects that match the owner's selector and are controlled by it. */
  owned: T[];
  /** Objects that match the owner's selector and have no controller. */
  toAdopt: T[];
  /** Objects controlled by the owner that no longer match its selector. */
  toRelease: T[];
};

export type ClaimInput<T extends KubeObject> = {
  owner: Owner;
  selector: LabelSelector | undefined;
  /** All objects in the owner's namespace, or only those that the owner may claim (`ObjectCache.claimable`). */
  objects: readonly T[];
};

/**
 * Sorts the objects in the owner's namespace into those it owns, should adopt and should release. An owner being deleted neither adopts nor
 * releases any.
 */
export function claimOf<T extends KubeObject>({ owner, selector, objects }: ClaimInput<T>): Claim<T> {
  const claim: Claim<T> = { owned: [], toAdopt: [], toRelease: [] };
  const isDeleting = owner.metadata.deletionTimestamp !== undefined;
  for (const object of objects) {
    if (object.metadata.namespace !== owner.metadata.namespace) continue;
    const controller = controllerOf(object);
    const matches = matchesLabelSelector(selector, object.metadata.labels);
    if (controller === undefined) {
      if (matches && !isDeleting && object.metadata.deletionTimestamp === undefined) claim.toAdopt.push(object);
    } else if (controller.uid !== owner.metadata.uid) continue;
    else if (matches) claim.owned.push(object);
    else if (!isDeleting) claim.toRelease.push(object);
  }
  return claim;
}

export type ClaimParts = Pick<ControllerParts, 'client' | 'objects' | 'signal'> & {
  /** The resource of the owner, such as ReplicaSets. */
  ownedBy: Resource;
  /** The resource of the objects to adopt and release, such as pods. */
  resource: Resource;
  /** Finalizers to add to adopted objects. */
  finalizers?: readonly string[];
};

/**
 * Adopts and releases objects, and returns those owned afterwards. Reads the owner from the server before the first adoption, because the
 * cache might not reflect its deletion yet.
 */
export async function claimObjects<T extends KubeObject>(parts: ClaimParts, input: ClaimInput<T>): Promise<T[]> {
  const { owned, toAdopt, toRelease } = claimOf(input);
  const budget = new EventLoopBudget();
  for (const object of toRelease) {
    await release(parts, input.owner, object);
    if (budget.isSpent) await budget.renew();
  }
  if (toAdopt.length === 0 || !(await mayAdopt(parts, input.owner))) return owned;
  const adopted: T[] = [];
  for (const object of toAdopt) {
    const result = await adopt(parts, input.owner, object);
    if (result !== undefined) adopted.push(result);
    if (budget.isSpent) await budget.renew();
  }
  return [...owned, ...adopted];
}

async function mayAdopt({ client, ownedBy, signal }: ClaimParts, { metadata }: Owner): Promise<boolean> {
  const { namespace, name, uid } = metadata;
  const fresh = await client.get(ownedBy, { namespace, name }, { signal }).catch(ignoreNotFound);
  return fresh?.metadata.uid === uid && fresh.metadata.deletionTimestamp === undefined;
}

async function adopt<T extends KubeObject>(parts: ClaimParts, owner: Owner, object: T): Promise<T | undefined> {
  const { uid } = object.metadata;
  const { finalizers } = parts;
  const ownerReferences = [controllerReference(parts.ownedBy, owner)];
  return patchOwners(parts, object, { uid, ownerReferences, ...(finalizers === undefined ? {} : { finalizers }) });
}

async function release<T extends KubeObject>(parts: ClaimParts, owner: Owner, object: T): Promise<void> {
  const { uid } = object.metadata;
  const ownerReferences = [{ $patch: 'delete', uid: owner.metadata.uid }];
  await patchOwners(parts, object, { uid, ownerReferences });
}

/** Patches an object's metadata, with the UID as a precondition. Returns nothing if the object no longer exists or has been replaced. */
async function patchOwners<T extends KubeObject>(
  { client, objects, resource, signal }: ClaimParts,
  { metadata }: T,
  changed: object,
): Promise<T | undefined> {
  const { namespace, name = '' } = metadata;
  const patch = { type: 'strategic' as const, body: { metadata: changed } };
  const result = await client.patch<T>(resource, { namespace, name }, patch, { signal }).catch((error: unknown) => {
    if (isApiStatus(error, 404) || isApiStatus(error, 422)) return undefined;
    throw error;
  });
  if (result !== undefined) objects.of<T>(resource).written(result);
  return result;
}

function ignoreNotFound(error: unknown): undefined {
  if (!isApiStatus(error, 404)) throw error;
}
