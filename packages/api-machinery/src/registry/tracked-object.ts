/** Steps applied to an object in addition to its kind's strategy: managed fields, mutating admission and owner references. */
import { errorMessage, PodwrightError } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';
import { managedFieldsOf } from '../managed-fields/object-fields.ts';
import { decodeOwners } from '../managed-fields/owners.ts';
import { repeatedOwnersWarning, withoutRepeatedOwners } from '../metadata/owner-references.ts';
import type { RequestContext } from '../request-context.ts';
import { admissionAttributes, admissionOf } from './admission-attributes.ts';
import type { ResourceParts } from './resource-parts.ts';

type Written = { object: ApiObject; old: ApiObject | undefined };

/** Returns the object with its managed fields updated after a create or update. All objects are in the storage version. */
export function tracked(
  { kind, fieldManager }: ResourceParts,
  { object, old }: Written,
  context: RequestContext,
): ApiObject {
  const { subresource = '', nowMs, fieldManager: manager } = context;
  if (manager === undefined) return object;
  const served = fieldManager(subresource).update(old && kind.fromStored(old), kind.fromStored(object), {
    manager,
    nowMs,
  });
  return kind.conversion === undefined ? served : withEntriesOf(object, served);
}

function withEntriesOf(object: ApiObject, other: ApiObject): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata;
  const managedFields = managedFieldsOf(other);
  return { ...object, metadata: { ...metadata, ...(managedFields === undefined ? {} : { managedFields }) } };
}

/** Runs mutating admission and returns the resulting object. */
export async function mutated(
  parts: ResourceParts,
  { object, old }: Written,
  context: RequestContext,
): Promise<ApiObject> {
  const { name = '', namespace = '' } = object.metadata;
  const operation = old === undefined ? 'CREATE' : 'UPDATE';
  const subject = { operation, name, namespace, object, oldObject: old } as const;
  const result = await admissionOf(parts, context).mutate(admissionAttributes(parts, subject, context));
  const admitted = withValidOwners(result ?? object, object, context);
  await parts.kind.strategy.load?.(admitted);
  return withUniqueOwners(admitted, context, true);
}

const INVALID_OWNERS =
  '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ';

/**
 * Returns the admitted object. If admission made its managed fields invalid, restores the previous ones and warns the client, like
 * upstream.
 */
function withValidOwners(admitted: ApiObject, before: ApiObject, { warn }: RequestContext): ApiObject {
  const entries = managedFieldsOf(admitted);
  if (entries === managedFieldsOf(before)) return admitted;
  try {
    decodeOwners(entries ?? []);
    return admitted;
  } catch (error) {
    if (!(error instanceof PodwrightError)) throw error;
    warn(`${INVALID_OWNERS}${errorMessage(error)}`);
    return withEntriesOf(admitted, before);
  }
}

/** Removes duplicate owner references and warns the client if there were any. */
export function withUniqueOwners(object: ApiObject, { warn }: RequestContext, isAdmitted: boolean): ApiObject {
  const unique = withoutRepeatedOwners(object);
  if (unique.duplicates.length > 0) warn(repeatedOwnersWarning(unique.duplicates, isAdmitted));
  return unique.object;
}
