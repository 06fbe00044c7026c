/** Validates changes to metadata, with upstream's error messages (ValidateObjectMetaUpdate). */
import { isDeepStrictEqual } from 'node:util';
import { type ApiObject, type FieldError, forbiddenField, invalidValue } from '@podwright/kube-kinds';
import { validateCommonFields } from './object-meta-rules.ts';

type Metadata = ApiObject['metadata'];

const IMMUTABLE = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

/** Validates the metadata of an updated object. Names are immutable and therefore not validated. */
export function validateObjectMetaUpdate(metadata: Metadata, old: Metadata, isNamespaced: boolean): FieldError[] {
  const changed = IMMUTABLE.filter((field) => !isDeepStrictEqual(metadata[field], old[field]));
  return [
    ...validateCommonFields(metadata, isNamespaced),
    ...(old.deletionTimestamp === undefined ? [] : noNewFinalizers(metadata.finalizers ?? [], old.finalizers ?? [])),
    ...(metadata.resourceVersion ? [] : [NO_VERSION]),
    ...((metadata.generation ?? 0) < (old.generation ?? 0)
      ? [invalidValue('metadata.generation', metadata.generation ?? 0, 'must not be decremented')]
      : []),
    ...changed.map((field) => invalidValue(`metadata.${field}`, metadata[field], 'field is immutable')),
  ];
}

const NO_VERSION = invalidValue('metadata.resourceVersion', '', 'must be specified for an update');

function noNewFinalizers(finalizers: readonly string[], old: readonly string[]): FieldError[] {
  const existing = new Set(old);
  const extra = [...new Set(finalizers)].filter((name) => !existing.has(name)).sort();
  if (extra.length === 0) return [];
  const listed = `[]string{${extra.map((name) => JSON.stringify(name)).join(', ')}}`;
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${listed}`;
  return [forbiddenField('metadata.finalizers', detail)];
}
