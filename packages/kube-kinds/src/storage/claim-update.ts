/** Allowed changes to a claim: its volume can be set once, and its size and volume attributes class can be changed after binding. */
import { compareQuantities } from '@podwright/kube-api';
import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, invalidValue } from '../field-error.ts';
import { jsonDiff } from '../json-diff.ts';
import { immutable } from '../rules.ts';
import { isSameValue, type JsonObject, objectAt, textAt, valueAt, withValue } from '../values.ts';

const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
const IMMUTABLE =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

export function validateClaimChange(object: ApiObject, old: ApiObject): FieldError[] {
  const spec = objectAt(object, 'spec') ?? {};
  const oldSpec = objectAt(old, 'spec') ?? {};
  const after = withAllowedChanges(object, old);
  const before = textAt(oldSpec, 'volumeName') === '' ? { ...oldSpec, volumeName: spec.volumeName } : oldSpec;
  const isChanged = !isSameSpec(after, before);
  const diff = isChanged ? [forbiddenField('spec', `${IMMUTABLE}\n${jsonDiff(before, after)}`)] : [];
  return [
    ...validateAnnotation(object, old),
    ...diff,
    ...validateSize('spec.resources.requests.storage', object, old),
    ...immutable('volumeMode', spec.volumeMode, oldSpec.volumeMode),
    ...validateAttributesClass('spec.volumeAttributesClassName', object, old),
  ];
}

/**
 * Returns the new spec of a claim with mutable fields reset to their old values. Any remaining difference from the old spec is an error.
 */
function withAllowedChanges(object: ApiObject, old: ApiObject): JsonObject {
  const spec = objectAt(object, 'spec') ?? {};
  const withClass = movesClass(object, old)
    ? withValue(spec, ['storageClassName'], undefined)
    : setsClass(object, old)
      ? withValue(spec, ['storageClassName'], valueAt(old, 'spec', 'storageClassName'))
      : spec;
  if (textAt(object, 'status', 'phase') !== 'Bound') return withClass;
  const size = ['resources', 'requests', 'storage'];
  const hasRequests = objectAt(spec, 'resources', 'requests') !== undefined;
  const withSize = hasRequests ? withValue(withClass, size, valueAt(old, 'spec', ...size)) : withClass;
  return withValue(withSize, ['volumeAttributesClassName'], valueAt(old, 'spec', 'volumeAttributesClassName'));
}

const annotationOf = (object: ApiObject): unknown => valueAt(object.metadata, 'annotations', CLASS_ANNOTATION);
const classOf = (object: ApiObject): unknown => valueAt(object, 'spec', 'storageClassName');

/** Returns true if the storage class moves from the annotation to the spec. */
function movesClass(object: ApiObject, old: ApiObject): boolean {
  const before = annotationOf(old);
  const annotation = annotationOf(object);
  const isSame = classOf(old) === undefined && classOf(object) === before;
  return before !== undefined && isSame && (annotation === undefined || annotation === before);
}

/** Returns true if an update sets the storage class of a claim that has none. */
function setsClass(object: ApiObject, old: ApiObject): boolean {
  const annotation = annotationOf(old);
  const name = classOf(object);
  return name !== undefined && classOf(old) === undefined && (annotation === undefined || annotation === name);
}

function validateAnnotation(object: ApiObject, old: ApiObject): FieldError[] {
  const annotation = annotationOf(object) ?? '';
  if (movesClass(object, old) || annotation === (annotationOf(old) ?? '')) return [];
  return [invalidValue(`metadata.annotations.${CLASS_ANNOTATION}`, annotation, 'field is immutable')];
}

/** Returns true if two specs are equal, comparing quantities by amount. */
function isSameSpec(after: JsonObject, before: JsonObject): boolean {
  const [resources, oldResources] = [objectAt(after, 'resources'), objectAt(before, 'resources')];
  const others = (spec: JsonObject) => withValue(spec, ['resources'], undefined);
  const isSameResources = ['requests', 'limits'].every((kind) =>
    isSameAmounts(objectAt(resources, kind) ?? {}, objectAt(oldResources, kind) ?? {}),
  );
  return isSameResources && isSameValue(others(after), others(before));
}

function isSameAmounts(amounts: JsonObject, old: JsonObject): boolean {
  const names = [...new Set([...Object.keys(amounts), ...Object.keys(old)])];
  return names.every((name) => {
    const [amount, before] = [textAt(amounts, name), textAt(old, name)];
    return amount === before || (amount !== '' && before !== '' && compareQuantities(amount, before) === 0);
  });
}

/** The requested size can be reduced during an expansion, but must remain greater than the volume's current capacity. */
function validateSize(field: string, object: ApiObject, old: ApiObject): FieldError[] {
  const path = ['spec', 'resources', 'requests', 'storage'];
  const size = textAt(object, ...path) || '0';
  const capacity = textAt(old, 'status', 'capacity', 'storage') || '0';
  const isSmaller = compareQuantities(size, textAt(old, ...path) || '0') < 0;
  if (!isSmaller || compareQuantities(size, capacity) > 0) return [];
  return [forbiddenField(field, 'field can not be less than status.capacity')];
}

function validateAttributesClass(field: string, object: ApiObject, old: ApiObject): FieldError[] {
  const name = valueAt(object, 'spec', 'volumeAttributesClassName');
  const current = valueAt(old, 'status', 'currentVolumeAttributesClassName');
  if (current === undefined || name === valueAt(old, 'spec', 'volumeAttributesClassName')) return [];
  const isNot = 'is forbidden when status.currentVolumeAttributesClassName is not nil';
  if (name === undefined) return [forbiddenField(field, `update to nil ${isNot}`)];
  return name === '' ? [forbiddenField(field, `update to empty string ${isNot}`)] : [];
}
