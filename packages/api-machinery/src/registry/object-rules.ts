/**
 * Applies a kind's strategy to creates and updates: how they change the object, and how the changed object is validated. Has defaults for
 * the functions that a strategy does not define.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type ApiObject,
  type Conversion,
  type CreateContext,
  type FieldError,
  nameIsDnsSubdomain,
  type Strategy,
  type SubresourceStrategy,
} from '@podwright/kube-kinds';
import { validateObjectMeta } from '../metadata/object-meta-rules.ts';
import { validateObjectMetaUpdate } from '../metadata/object-meta-update-rules.ts';
import { withRetainedFields } from '../metadata/system-fields.ts';
import { pageNotFound } from '../status/api-error.ts';
import type { ServedKind } from './served-kind.ts';

/** Returns the new object, in the storage version, with the fields set by the server on create. */
export function preparedForCreate(kind: ServedKind, object: ApiObject, context: CreateContext): ApiObject {
  const { prepareForCreate = (given: ApiObject) => withStatusOf(kind, given, kind.emptyStored) } = kind.strategy;
  const prepared = prepareForCreate(object, context);
  const { hasGeneration = false, startsWithoutGeneration = false } = kind.strategy;
  if (!hasGeneration) return prepared;
  return withGeneration(prepared, startsWithoutGeneration ? undefined : 1);
}

/** Returns the updated object with all fields restored that this write cannot change. Throws `ApiError` for an unknown subresource. */
export function preparedForUpdate(kind: ServedKind, { object, old, subresource }: Updating): ApiObject {
  const given = withGeneration(object, old.metadata.generation);
  const { prepareForUpdate = (one, other) => withStatusOf(kind, one, other) } = rulesOf(kind, subresource);
  const prepared = prepareForUpdate(given, old);
  const retained = { ...prepared, metadata: withRetainedFields(prepared.metadata, old.metadata) };
  return withGeneration(retained, generationAfter(kind, { object: retained, old, subresource }));
}

export type Updating = {
  object: ApiObject;
  old: ApiObject;
  /** Name of the subresource that is updated; '' for the main resource. */
  subresource: string;
};

/** Validates a new object. */
export async function errorsOfCreate(
  { resource, strategy, conversion }: ServedKind,
  object: ApiObject,
): Promise<FieldError[]> {
  const nameProblems = conversion?.nameProblems ?? strategy.nameProblems ?? nameIsDnsSubdomain;
  return [
    ...validateObjectMeta(object.metadata, { isNamespaced: resource.namespaced, nameProblems }),
    ...named(conversion, await withRuleErrors(strategy, strategy.validate?.(object), { object })),
    ...(conversion?.validate?.(object, undefined) ?? []),
  ];
}

/** Validates an updated object. */
export async function errorsOfUpdate(kind: ServedKind, { object, old, subresource }: Updating): Promise<FieldError[]> {
  const { resource, conversion, strategy } = kind;
  const { validateUpdate } = rulesOf(kind, subresource);
  return [
    ...validateObjectMetaUpdate(object.metadata, old.metadata, resource.namespaced),
    ...named(conversion, await withRuleErrors(strategy, validateUpdate?.(object, old), { object, old })),
    ...(subresource === '' ? (conversion?.validate?.(object, old) ?? []) : []),
  ];
}

/** Adds the errors of the kind's CEL rules, if it has any. */
function withRuleErrors(
  { validateRules }: Strategy,
  errors: readonly FieldError[] = [],
  { object, old }: { object: ApiObject; old?: ApiObject },
): readonly FieldError[] | Promise<readonly FieldError[]> {
  return validateRules === undefined ? errors : validateRules(errors, object, old);
}

/** Returns validation errors in which the storage version's field names are replaced with those of the served version. */
function named(
  { errorFields = {} }: Pick<Conversion, 'errorFields'> = {},
  errors: readonly FieldError[] = [],
): FieldError[] {
  return errors.map((one) =>
    Object.hasOwn(errorFields, one.field) ? { ...one, field: errorFields[one.field]! } : one,
  );
}

/** Returns the fields that managers cannot own through the subresource, or through the main resource if `subresource` is ''. */
export function resetFields(kind: ServedKind, subresource: string): readonly (readonly string[])[] {
  if (subresource === '') return kind.strategy.resetFields ?? (kind.hasSubresource('status') ? [['status']] : []);
  return kind.strategy.subresources?.[subresource]?.resetFields ?? (subresource === 'status' ? [['spec']] : []);
}

/**
 * Returns the strategy for updates through a subresource. Subresources with their own kind, such as `scale`, use the strategy of the main
 * resource. Throws `ApiError` if the kind does not have the subresource.
 */
function rulesOf(kind: ServedKind, name: string): Partial<SubresourceStrategy> {
  if (name === '') return kind.strategy;
  const own = kind.strategy.subresources;
  if (own !== undefined && Object.hasOwn(own, name)) return own[name]!;
  const subresource = kind.hasSubresource(name) ? kind.resource.subresources![name] : undefined;
  if (subresource === undefined) throw pageNotFound();
  if (subresource.kind !== kind.resource.kind) return kind.strategy;
  if (name === 'status') return STATUS;
  throw pageNotFound();
}

/** The default strategy for `status`. Only metadata and status can change. */
const STATUS: SubresourceStrategy = {
  prepareForUpdate: ({ metadata, status }, old) => ({ ...old, metadata, ...(status === undefined ? {} : { status }) }),
};

/**
 * Returns the object with the status of `old` if the kind has a status subresource, because the status can only be changed through that
 * subresource.
 */
function withStatusOf(kind: ServedKind, object: ApiObject, old: ApiObject): ApiObject {
  if (!kind.hasSubresource('status')) return object;
  const { status: _, ...others } = object;
  return { ...others, ...(old.status === undefined ? {} : { status: old.status }) } as ApiObject;
}

function withGeneration(object: ApiObject, generation: number | undefined): ApiObject {
  const { generation: _, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, ...(generation === undefined ? {} : { generation }) } };
}

/**
 * Returns the object's next generation. It is incremented when anything except metadata and status changes. For some kinds, changes of
 * annotations, labels or status count as well. Binding a pod to a node does not count.
 */
function generationAfter({ strategy }: ServedKind, { object, old, subresource }: Updating): number | undefined {
  const { generation } = old.metadata;
  if (!strategy.hasGeneration) return generation;
  if (subresource === 'binding') return generation;
  const hasAnnotations = strategy.countsAnnotations === true && subresource === '';
  const desired = ({ metadata, status, ...rest }: ApiObject) =>
    strategy.countsStatus === true
      ? { ...rest, status }
      : hasAnnotations
        ? { ...rest, annotations: metadata.annotations ?? {} }
        : strategy.countsLabels === true
          ? { ...rest, labels: metadata.labels ?? {} }
          : rest;
  return isDeepStrictEqual(desired(object), desired(old)) ? generation : (generation ?? 0) + 1;
}
