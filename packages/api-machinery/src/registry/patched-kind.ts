/** Checks the kind of the object that results from a patch. */
import { invalidValue } from '@podwright/kube-kinds';
import { apiVersionOf, type JsonObject, type Schema } from '@podwright/kube-schema';
import { type ApiError, internalError, invalid } from '../status/api-error.ts';
import { checkedType, DecodeError, namedKind } from './declared-kind.ts';
import { undeterminableName } from './names.ts';
import type { ServedKind } from './served-kind.ts';

export type PatchedKindOptions = {
  schema: Schema;
  /** Name of the stored object that is patched. */
  name: string;
  /** Returns the error for an object that cannot be decoded. */
  refusal: (message: string) => ApiError;
};

/**
 * Throws if the object that results from a JSON or merge patch is not of the patched kind. Upstream decodes this object as the kind that it
 * declares; only the result of a strategic merge patch can declare any kind.
 */
export function checkPatchedKind(kind: ServedKind, value: JsonObject, options: PatchedKindOptions): void {
  try {
    if (kind.resource.isCustom) checkCustomKind(kind, value, options);
    else checkBuiltInKind(kind, value, options);
  } catch (error) {
    throw error instanceof DecodeError ? options.refusal(error.message) : error;
  }
}

function checkBuiltInKind({ resource }: ServedKind, value: JsonObject, { schema, name }: PatchedKindOptions): void {
  checkedType(namedKind(value, resource), { schema, expected: resource });
  // without a version, upstream decodes into its internal type, which has no JSON field names
  if (!value.apiVersion) throw undeterminableName(name);
}

function checkCustomKind({ resource, apiVersion }: ServedKind, value: JsonObject, { name }: PatchedKindOptions): void {
  const named = namedKind(value, resource);
  if (!value.kind) throw new DecodeError(`Object 'Kind' is missing in '${JSON.stringify(value)}'`);
  if (!value.apiVersion) throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  const expect = (field: 'kind' | 'apiVersion', found: string, expected: string) =>
    found === expected ? [] : [invalidValue(field, found, `must be ${expected}`)];
  const problems = [
    ...expect('kind', named.kind, resource.kind),
    ...expect('apiVersion', apiVersionOf(named), apiVersion),
  ];
  if (problems.length > 0) throw invalid(named, name, problems);
}

/**
 * Replaces a patched object's `kind` and `apiVersion` with those of the stored object. Values that are neither strings nor null are not
 * replaced, so that decoding reports them.
 */
export function withOwnKind({ resource, apiVersion }: ServedKind, value: JsonObject): JsonObject {
  const isReplaced = (one: unknown) => typeof one === 'string' || one === null || one === undefined;
  return {
    ...value,
    ...(isReplaced(value.kind) && { kind: resource.kind }),
    ...(isReplaced(value.apiVersion) && { apiVersion }),
  };
}
