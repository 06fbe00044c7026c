import type { ObjectKey, ObjectStore } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import { RefusedCredential } from './authenticator.ts';
import { type Binding, type BoundObject, LEEWAY_S } from './token-claims.ts';

/** Throws `RefusedCredential` if an object the token is bound to was deleted or replaced by another one with the same name. */
export function checkBinding(store: ObjectStore, binding: Binding, nowMs: number): void {
  const find = (resource: string, { name }: BoundObject, namespace = binding.namespace) =>
    findAlive(store, { resource, namespace, name }, nowMs);
  const { namespace, serviceaccount, secret, pod, node } = binding;
  checkAccount(binding, store.get({ resource: 'serviceaccounts', namespace, name: serviceaccount.name })?.decode());
  if (find('serviceaccounts', serviceaccount) === undefined)
    throw new RefusedCredential(`service account ${namespace}/${serviceaccount.name} has been deleted`);
  if (secret !== undefined) checkObject('secret', secret, find('secrets', secret));
  if (pod !== undefined) checkObject('pod', pod, find('pods', pod));
  else if (node !== undefined) checkObject('node', node, find('nodes', node, ''));
}

function checkAccount({ serviceaccount: { name, uid = '' } }: Binding, account: ApiObject | undefined): void {
  if (account === undefined) throw new RefusedCredential(`serviceaccounts ${JSON.stringify(name)} not found`);
  const { uid: stored = '' } = account.metadata;
  if (stored !== uid) throw new RefusedCredential(`service account UID (${stored}) does not match claim (${uid})`);
}

function checkObject(kind: string, { uid = '' }: BoundObject, object: ApiObject | undefined): void {
  if (object === undefined) throw new RefusedCredential('service account token has been invalidated');
  const { uid: stored = '' } = object.metadata;
  if (stored !== uid)
    throw new RefusedCredential(`${kind} UID (${stored}) does not match service account ${kind} ref claim (${uid})`);
}

/** Finds an object. Objects past their grace period count as deleted, even if finalizers still block their removal. */
function findAlive(store: ObjectStore, key: ObjectKey, nowMs: number): ApiObject | undefined {
  const object = store.get(key)?.decode();
  const { deletionTimestamp } = object?.metadata ?? {};
  const isDeleted = deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < nowMs - LEEWAY_S * 1000;
  return isDeleted ? undefined : object;
}
