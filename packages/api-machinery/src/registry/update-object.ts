import { type ApiObject, invalidValue } from '@podwright/kube-kinds';
import type { RequestContext } from '../request-context.ts';
import { ApiError, conflict, invalid, MODIFIED, notFound } from '../status/api-error.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { admissionAttributes, admissionOf } from './admission-attributes.ts';
import { type Allocation, NO_ALLOCATION } from './allocation.ts';
import { insertObject } from './create-object.ts';
import { isSameObject } from './equal-writes.ts';
import { keyIn } from './keys.ts';
import { checkName, inNamespace } from './names.ts';
import { errorsOfUpdate, preparedForUpdate } from './object-rules.ts';
import type { ResourceParts } from './resource-parts.ts';
import { versionNumber } from './resource-version.ts';
import { spaceOf } from './space-of.ts';
import { Overtaken, written } from './store-answers.ts';
import { mutated, tracked, withUniqueOwners } from './tracked-object.ts';

/**
 * Maximum number of attempts to write an object that is concurrently modified while admission runs. Upstream retries for 34 seconds. If n
 * clients write the same object at once, one succeeds in each round, so this also limits n.
 */
const MAX_ATTEMPTS = 100;

export type Place = { namespace: string; name: string };

export type Change = {
  /** Returns the new object in the storage version, after mutating admission. `old` is `undefined` if the object does not exist. */
  compute: (old: ApiObject | undefined) => Promise<ApiObject>;
  /** Whether to create the object if it does not exist. */
  allowCreate: boolean;
  /** The UID that the stored object must have. If unset, any object of this name is updated. */
  uid?: string;
};

export type Written = {
  /** The written object, in the served version. */
  object: ApiObject;
  created: boolean;
};

/** Replaces an object. The object must be decoded and in the served version. Throws `ApiError`. */
export async function updateObject(
  parts: ResourceParts,
  { namespace, name, object }: Place & { object: ApiObject },
  context: RequestContext,
): Promise<Written> {
  const { kind } = parts;
  kind.checkConversion(object);
  const placed = inNamespace(kind, object, namespace);
  checkName(placed, name);
  const given = withUniqueOwners(kind.complete(placed), context, false);
  const compute = (old: ApiObject | undefined) =>
    mutated(parts, { object: tracked(parts, { object: given, old }, context), old }, context);
  const allowCreate = !context.subresource && kind.strategy.allowCreateOnUpdate === true;
  return changeObject(parts, { namespace, name, compute, allowCreate, uid: object.metadata.uid }, context);
}

/** Changes an object. Retries with a newly computed change if the object is concurrently modified. Throws `ApiError`. */
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

/** Stores the new state of an object, or removes the object if it is marked for deletion and nothing blocks its removal any longer. */
async function replaceObject(
  parts: ResourceParts,
  { stored, object: given }: { stored: StoredObject; object: ApiObject },
  context: RequestContext,
): Promise<ApiObject> {
  const { subresource = '' } = context;
  const old = stored.decode();
  const prepared = preparedForUpdate(parts.kind, { object: withVersion(parts, given, stored), old, subresource });
  const allocation = subresource === '' ? parts.allocate(prepared, old) : NO_ALLOCATION(prepared, old);
  try {
    return await replaceAllocated(parts, { stored, allocation }, context);
  } finally {
    allocation.end();
  }
}

async function replaceAllocated(
  parts: ResourceParts,
  { stored, allocation }: { stored: StoredObject; allocation: Allocation },
  context: RequestContext,
): Promise<ApiObject> {
  const { kind, store } = parts;
  const { object } = allocation;
  const old = stored.decode();
  const { name = '', namespace = '' } = old.metadata;
  const key = keyIn(kind, namespace, name);
  const { subresource = '' } = context;
  const updating = { object, old, subresource };
  const errors = allocation.errors.length > 0 ? allocation.errors : await errorsOfUpdate(kind, updating);
  if (errors.length > 0) throw invalid(kind.internalKind, name, errors);
  if (subresource === '') for (const one of kind.strategy.warnings?.(object, old) ?? []) context.warn(one);
  const subject = { operation: 'UPDATE', namespace, name, object, oldObject: old } as const;
  await admissionOf(parts, context).validate(admissionAttributes(parts, subject, context));
  context.authorizeAgain?.();
  if (isRemovable(parts, object, old)) {
    if (!context.dryRun) written({ resource: kind.resource, name }, () => store.delete(key, stored.revision));
    return kind.fromStored(object);
  }
  const storable = kind.storable(object);
  if (isSameObject(storable, old)) return kind.fromStored(old);
  if (context.dryRun) return kind.fromStored(storable);
  const space = spaceOf(key.resource, 'update', context);
  const write = { type: 'update', key, object: storable, expected: stored.revision, space } as const;
  const update = () => store.transaction([write])[0]!;
  return kind.fromStored(written({ resource: kind.resource, name }, update).decode());
}

/**
 * Returns the object with the stored object's resource version. Throws if the client sent a different version, or none although the kind
 * requires one.
 */
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
  if (versionNumber(given) === undefined)
    throw new ApiError(500, '', { message: `strconv.ParseUint: parsing ${JSON.stringify(given)}: invalid syntax` });
  if (given !== String(stored.revision)) throw conflict(resource, name, MODIFIED);
  return object;
}

/**
 * Whether an object marked for deletion can be removed now: its grace period is 0, and after the update neither finalizers nor the kind's
 * strategy defer its removal.
 */
function isRemovable({ kind }: ResourceParts, object: ApiObject, old: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = old.metadata;
  const isHeld = (object.metadata.finalizers ?? []).length > 0 || (kind.strategy.defersRemoval?.(object) ?? false);
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && !isHeld;
}
