/** The rules of a kind with their defaults: what a create or update changes in an object, and the errors of the result. */
import { isDeepStrictEqual } from 'node:util';
import {
  type ApiObject,
  type CreateContext,
  type FieldError,
  nameIsDnsSubdomain,
  type SubresourceStrategy,
} from '@podwright/kube-kinds';
import { validateObjectMeta } from '../metadata/object-meta-rules.ts';
import { validateObjectMetaUpdate } from '../metadata/object-meta-update-rules.ts';
import { withRetainedFields } from '../metadata/system-fields.ts';
import { pageNotFound } from '../status/api-error.ts';
import type { ServedKind } from './served-kind.ts';

/** A new object with the fields that the server sets, in the stored version. */
export function preparedForCreate(kind: ServedKind, object: ApiObject, context: CreateContext): ApiObject {
  const { prepareForCreate = (given: ApiObject) => withStatusOf(kind, given, kind.emptyStored) } = kind.strategy;
  return withGeneration(prepareForCreate(object, context), kind.strategy.hasGeneration ? 1 : undefined);
}

/** An updated object with the fields that the write cannot change. Throws `ApiError` for an unknown subresource. */
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
  /** '' for the main resource. */
  subresource: string;
};

/** The errors of a new object. */
export function errorsOfCreate({ resource, strategy, conversion }: ServedKind, object: ApiObject): FieldError[] {
  const nameProblems = conversion?.nameProblems ?? strategy.nameProblems ?? nameIsDnsSubdomain;
  return [
    ...validateObjectMeta(object.metadata, { isNamespaced: resource.namespaced, nameProblems }),
    ...(strategy.validate?.(object) ?? []),
    ...(conversion?.validate?.(object, undefined) ?? []),
  ];
}

/** The errors of an updated object. */
export function errorsOfUpdate(kind: ServedKind, { object, old, subresource }: Updating): FieldError[] {
  const { resource, conversion } = kind;
  const { validateUpdate } = rulesOf(kind, subresource);
  return [
    ...validateObjectMetaUpdate(object.metadata, old.metadata, resource.namespaced),
    ...(validateUpdate?.(object, old) ?? []),
    ...(subresource === '' ? (conversion?.validate?.(object, old) ?? []) : []),
  ];
}

/** The fields that writes of a subresource, or of the main resource, may not own. */
export function resetFields(kind: ServedKind, subresource: string): readonly (readonly string[])[] {
  if (subresource === '') return kind.strategy.resetFields ?? (kind.hasSubresource('status') ? [['status']] : []);
  return kind.strategy.subresources?.[subresource]?.resetFields ?? (subresource === 'status' ? [['spec']] : []);
}

/**
 * The rules for updates through a subresource. Those with a kind of their own, such as `scale`, have the rules of the main resource. Throws
 * `ApiError` for a subresource that the kind does not have.
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

/** The rules of `status` for kinds that have none of their own: only metadata and status change. */
const STATUS: SubresourceStrategy = {
  prepareForUpdate: ({ metadata, status }, old) => ({ ...old, metadata, ...(status === undefined ? {} : { status }) }),
};

/** Objects of kinds with a status subresource retain the status of `old`. */
function withStatusOf(kind: ServedKind, object: ApiObject, old: ApiObject): ApiObject {
  if (!kind.hasSubresource('status')) return object;
  const { status: _, ...others } = object;
  return { ...others, ...(old.status === undefined ? {} : { status: old.status }) } as ApiObject;
}

function withGeneration(object: ApiObject, generation: number | undefined): ApiObject {
  const { generation: _, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, ...(generation === undefined ? {} : { generation }) } };
}

/** The generation counts the changes of everything but metadata and status; for some kinds, of annotations too. */
function generationAfter({ strategy }: ServedKind, { object, old, subresource }: Updating): number | undefined {
  const { generation } = old.metadata;
  if (!strategy.hasGeneration) return generation;
  const hasAnnotations = strategy.countsAnnotations === true && subresource === '';
  const desired = ({ metadata, status: _, ...rest }: ApiObject) =>
    hasAnnotations ? { ...rest, annotations: metadata.annotations ?? {} } : rest;
  return (generation ?? 0) + (isDeepStrictEqual(desired(object), desired(old)) ? 0 : 1);
}
