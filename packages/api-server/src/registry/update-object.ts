import { type ApiObject, invalidValue } from '@podwright/kube-kinds';
import type { RequestContext } from '../request-context.ts';
import { conflict, invalid, MODIFIED, notFound } from '../status/api-error.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { admissionAttributes } from './admission-attributes.ts';
import { insertObject } from './create-object.ts';
import { isSameObject } from './equal-writes.ts';
import { keyIn } from './keys.ts';
import { checkName, inNamespace } from './names.ts';
import { errorsOfUpdate, preparedForUpdate } from './object-rules.ts';
import type { ResourceParts } from './resource-parts.ts';
import { Overtaken, written } from './store-answers.ts';
import { mutated, tracked, withUniqueOwners } from './tracked-object.ts';

/**
 * Bounds the attempts of one write that other writes overtake while admission runs. Upstream tries for 34 seconds. Of n writers of one
 * object, each round has a winner, so this also bounds n.
 */
const MAX_ATTEMPTS = 100;

export type Place = { namespace: string; name: string };

export type Change = {
  /** The new object, in the stored version, after mutating admission. `old` is undefined if there is no object. */
  compute: (old: ApiObject | undefined) => Promise<ApiObject>;
  /** Whether the object is created if there is none. */
  allowCreate: boolean;
  /** The UID that the stored object must have. */
  uid?: string;
};

export type Written = {
  /** In the served version. */
  object: ApiObject;
  created: boolean;
};

/** Replaces an object by a decoded one in the served version. Throws `ApiError`. */
export async function updateObject(
  parts: ResourceParts,
  { namespace, name, object }: Place & { object: ApiObject },
  context: RequestContext,
): Promise<Written> {
  const { kind } = parts;
  const placed = inNamespace(kind, object, namespace);
  checkName(placed, name);
  const given = withUniqueOwners(kind.complete(placed), context, false);
  const compute = (old: ApiObject | undefined) =>
    mutated(parts, { object: tracked(parts, { object: given, old }, context), old }, context);
  const allowCreate = !context.subresource && kind.strategy.allowCreateOnUpdate === true;
  return changeObject(parts, { namespace, name, compute, allowCreate, uid: object.metadata.uid }, context);
}

/** Changes an object, and computes the change again if another write overtakes it. Throws `ApiError`. */
export async function changeObject(
  parts: ResourceParts,
  change: Place & Change,
  context: RequestContext,
): Promise<Written> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptChange(parts, change, context);
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
      context.signal?.throwIfAborted();
      if (attempt === MAX_ATTEMPTS) throw error.answer;
    }
  }
}

async function attemptChange(
  parts: ResourceParts,
  { namespace, name, compute, allowCreate, uid }: Place & Change,
  context: RequestContext,
): Promise<Written> {
  const { kind, store } = parts;
  const stored = store.get(keyIn(kind, namespace, name));
  if (stored === undefined && !allowCreate) throw notFound(kind.resource, name);
  const old = stored?.decode();
  const { uid: oldUid = '' } = old?.metadata ?? {};
  if (uid && uid !== oldUid)
    throw conflict(
      kind.resource,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${oldUid}`,
    );
  const object = await compute(old);
  if (stored !== undefined) return { object: await replaceObject(parts, { stored, object }, context), created: false };
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { object: await insertObject(parts, { namespace, object: { ...object, metadata } }, context), created: true };
}

/** Stores the new state of an object, or removes the object if that state has no more finalizers. */
async function replaceObject(
  parts: ResourceParts,
  { stored, object: given }: { stored: StoredObject; object: ApiObject },
  context: RequestContext,
): Promise<ApiObject> {
  const { kind, store } = parts;
  const old = stored.decode();
  const { name = '', namespace = '' } = old.metadata;
  const key = keyIn(kind, namespace, name);
  const { subresource = '' } = context;
  const object = preparedForUpdate(kind, { object: withVersion(parts, given, stored), old, subresource });
  const errors = errorsOfUpdate(kind, { object, old, subresource });
  if (errors.length > 0) throw invalid(kind.resource, name, errors);
  if (subresource === '') for (const one of kind.strategy.warnings?.(object, old) ?? []) context.warn(one);
  const subject = { operation: 'UPDATE', namespace, name, object, oldObject: old } as const;
  await parts.admission.validate(admissionAttributes(kind, subject, context));
  if (isRemovable(parts, object, old)) {
    if (!context.dryRun) written({ resource: kind.resource, name }, () => store.delete(key, stored.revision));
    return kind.fromStored(object);
  }
  if (isSameObject(object, old)) return kind.fromStored(old);
  if (context.dryRun) return kind.fromStored(object);
  const update = () => store.update(key, object, stored.revision);
  return kind.fromStored(written({ resource: kind.resource, name }, update).decode());
}

/** The object with the version of the stored one. Throws if the client sent another version, or none where one is required. */
function withVersion({ kind }: ResourceParts, object: ApiObject, stored: StoredObject): ApiObject {
  const { resource, strategy } = kind;
  const { name = '', resourceVersion: given = '' } = object.metadata;
  if (given === '' || given === '0') {
    if (strategy.allowUnconditionalUpdate === false)
      throw invalid({ group: resource.group, kind: resource.plural }, name, [
        invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
      ]);
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(stored.revision) } };
  }
  if (given !== String(stored.revision)) throw conflict(resource, name, MODIFIED);
  return object;
}

/** Whether an update has removed the last obstacle to a requested deletion. */
function isRemovable({ kind }: ResourceParts, object: ApiObject, old: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = old.metadata;
  const isHeld = (object.metadata.finalizers ?? []).length > 0 || (kind.strategy.defersRemoval?.(object) ?? false);
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && !isHeld;
}
