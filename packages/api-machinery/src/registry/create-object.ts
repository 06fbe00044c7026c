import type { ApiObject } from '@podwright/kube-kinds';
import { withoutSystemFields, withSystemFields } from '../metadata/system-fields.ts';
import type { RequestContext } from '../request-context.ts';
import { ApiError, alreadyExists, type GroupResource, invalid } from '../status/api-error.ts';
import { admissionAttributes, admissionOf } from './admission-attributes.ts';
import type { Allocation } from './allocation.ts';
import { keyIn } from './keys.ts';
import { inNamespace } from './names.ts';
import { errorsOfCreate, preparedForCreate } from './object-rules.ts';
import type { ResourceParts } from './resource-parts.ts';
import { spaceOf } from './space-of.ts';
import { Overtaken, written } from './store-answers.ts';
import { mutated, tracked, withUniqueOwners } from './tracked-object.ts';

/** Maximum number of generated names to try, as in upstream. */
const MAX_NAME_TRIES = 8;

type NewObject = { namespace: string; object: ApiObject };

/** Creates an object. The object must be decoded and in the served version. Throws `ApiError`. */
export async function createObject(
  parts: ResourceParts,
  { namespace, object }: NewObject,
  context: RequestContext,
): Promise<ApiObject> {
  const { kind } = parts;
  kind.checkConversion(object);
  const clean = { ...object, metadata: withoutSystemFields(object.metadata) };
  const given = withUniqueOwners(kind.complete(inNamespace(kind, clean, namespace)), context, false);
  const change = { object: tracked(parts, { object: given, old: undefined }, context), old: undefined };
  const admitted = await mutated(parts, change, context);
  const isGenerated = !admitted.metadata.name && Boolean(admitted.metadata.generateName);
  for (let tries = 1; ; tries++) {
    try {
      return await insertObject(parts, { namespace, object: admitted }, context);
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
      if (!isGenerated || tries === MAX_NAME_TRIES) throw error.answer;
    }
  }
}

/**
 * Completes, validates and stores a new object after mutating admission. The object must be in the storage version. Throws `Overtaken` if
 * the name is already in use, and `ApiError` for other errors.
 */
export async function insertObject(
  parts: ResourceParts,
  { namespace, object }: NewObject,
  context: RequestContext,
): Promise<ApiObject> {
  const { kind } = parts;
  const metadata = withSystemFields(object.metadata, context.nowMs);
  const prepared = preparedForCreate(kind, inNamespace(kind, { ...object, metadata }, namespace), context);
  const allocation = parts.allocate(prepared, undefined);
  try {
    return await insertAllocated(parts, { namespace, allocation }, context);
  } finally {
    allocation.end();
  }
}

async function insertAllocated(
  parts: ResourceParts,
  { namespace, allocation }: { namespace: string; allocation: Allocation },
  context: RequestContext,
): Promise<ApiObject> {
  const { kind } = parts;
  const { object: created } = allocation;
  const { name = '' } = created.metadata;
  const errors = allocation.errors.length > 0 ? allocation.errors : await errorsOfCreate(kind, created);
  if (errors.length > 0) throw invalid(kind.internalKind, name, errors);
  for (const warning of kind.strategy.warnings?.(created, undefined) ?? []) context.warn(warning);
  await context.authorizeCreate?.();
  const subject = { operation: 'CREATE', namespace, name, object: created } as const;
  await admissionOf(parts, context).validate(admissionAttributes(parts, subject, context));
  return store(parts, { namespace, object: created }, context);
}

function store(parts: ResourceParts, { namespace, object }: NewObject, context: RequestContext): ApiObject {
  const { kind } = parts;
  const { name = '', resourceVersion } = object.metadata;
  const key = keyIn(kind, namespace, name);
  const existing = parts.store.get(key);
  if (existing !== undefined) throw new Overtaken(nameInUse(kind.resource, object, existing.decode()));
  const storable = kind.storable(object);
  if (context.dryRun) return kind.fromStored(storable);
  if (resourceVersion && resourceVersion !== '0')
    throw new ApiError(500, '', { message: 'resourceVersion should not be set on objects to be created' });
  context.authorizeAgain?.();
  const space = spaceOf(key.resource, 'create', context);
  const create = () => parts.store.transaction([{ type: 'create', key, object: storable, space }])[0]!;
  return kind.fromStored(written({ resource: kind.resource, name }, create).decode());
}

/** Returns the error for a name that is already in use. If the name was generated, the error asks the client to retry. */
function nameInUse(resource: GroupResource, { metadata }: ApiObject, existing: ApiObject): ApiError {
  const { name = '', generateName = '' } = metadata;
  const error = alreadyExists(resource, name);
  const generated = `${error.message}, the server was not able to generate a unique name for the object`;
  const message = generateName === '' ? error.message : generated;
  const details = { ...error.status.details, ...(generateName === '' ? {} : { retryAfterSeconds: 1 }) };
  const isTerminating = existing.metadata.deletionTimestamp !== undefined;
  return new ApiError(409, 'AlreadyExists', {
    message: isTerminating ? `object is being deleted: ${message}` : message,
    details,
  });
}
