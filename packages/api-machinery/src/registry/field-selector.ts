/** Field selectors of list, watch and deletecollection requests, with upstream's error messages (apimachinery, fields/selector.go). */
import type { ApiObject } from '@podwright/kube-kinds';
import { badRequest } from '../status/api-error.ts';
import type { ServedKind } from './served-kind.ts';

export type FieldRequirement = { field: string; isEqual: boolean; value: string };

/** Parses a field selector for objects of a kind. Field names are converted to the storage version. Throws `ApiError`. */
export function parseFieldSelector(kind: ServedKind, selector: string): FieldRequirement[] {
  return parseRequirements(selector, (field) => storedField(kind, field));
}

/**
 * Parses a field selector for objects that can only be selected by name and namespace. Returns a function that reports whether an object is
 * selected. Throws `ApiError`.
 */
export function parseMetadataSelector(selector: string): (metadata: ApiObject['metadata']) => boolean {
  const requirements = parseRequirements(selector, metadataField);
  return (metadata) =>
    requirements.every(({ field, isEqual, value }) => (METADATA[field]!({ metadata }) === value) === isEqual);
}

/** Parses the requirements of a field selector. `storedField` returns the name of a field in the storage version, or throws `ApiError`. */
function parseRequirements(selector: string, storedField: (field: string) => string): FieldRequirement[] {
  return splitTerms(selector)
    .filter((term) => term !== '')
    .map((term) => {
      const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
      if (match === null) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
      const [, field = '', operator, value = ''] = match;
      return { field: storedField(field), isEqual: operator !== '!=', value: unescaped(value) };
    });
}

/** Whether a stored object meets all requirements. */
export function matchesFields(
  { strategy }: ServedKind,
  requirements: readonly FieldRequirement[],
  object: ApiObject,
): boolean {
  return requirements.every(({ field, isEqual, value }) => {
    const own = METADATA[field] ?? strategy.selectableFields?.[field];
    return (own?.(object) === value) === isEqual;
  });
}

/** Returns the value that the selector requires a field to have, or `undefined` if it does not require one. */
export const requiredValue = (requirements: readonly FieldRequirement[], field: string): string | undefined =>
  requirements.find((one) => one.field === field && one.isEqual)?.value;

/**
 * Metadata fields available in the field selectors of all kinds. This includes the namespace even for cluster-scoped kinds, whose objects
 * have none.
 */
const METADATA: Readonly<Record<string, ((object: Pick<ApiObject, 'metadata'>) => string) | undefined>> = {
  'metadata.name': ({ metadata }) => metadata.name ?? '',
  'metadata.namespace': ({ metadata }) => metadata.namespace ?? '',
};

/**
 * Returns the name of a selectable field in the storage version. Throws `ApiError` if the kind does not support selecting by this field.
 */
function storedField({ resource, strategy, conversion }: ServedKind, field: string): string {
  const fields = strategy.selectableFields ?? {};
  const hasNamespace = resource.namespaced || Object.keys(fields).length === 0;
  if (field === 'metadata.name' || (field === 'metadata.namespace' && hasNamespace)) return field;
  const renamed = conversion?.selectableFields;
  const stored = renamed === undefined ? field : Object.hasOwn(renamed, field) ? renamed[field]! : '';
  if (Object.hasOwn(fields, stored)) return stored;
  throw Object.keys(fields).length > 0 ? badRequest(`field label not supported: ${field}`) : notMetadata(field);
}

function metadataField(field: string): string {
  if (METADATA[field] !== undefined) return field;
  throw notMetadata(field);
}

const notMetadata = (field: string) =>
  badRequest(`${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`);

/** Splits a field selector at unescaped commas. */
const splitTerms = (selector: string): string[] => selector.match(/(?:\\.|[^,\\]|\\$)+/gs) ?? [];

function unescaped(value: string): string {
  const wrong = /\\(?:[^\\,=]|$)/s.exec(value.replaceAll(/\\[\\,=]/g, ''));
  if (wrong !== null) throw badRequest(`invalid field selector: invalid escape sequence: ${wrong[0]}`);
  const unescapedSign = value.replaceAll(/\\[\\,=]/g, '').match(/[,=]/);
  if (unescapedSign !== null)
    throw badRequest(`invalid field selector: unescaped character in value: ${unescapedSign[0].charCodeAt(0)}`);
  return value.replaceAll(/\\([\\,=])/g, '$1');
}
