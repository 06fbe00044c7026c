/** Reviews: answered, but not stored. */
import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, invalidValue, required } from '../field-error.ts';
import { validateLabelName } from '../labels.ts';
import { labelValueProblems } from '../names.ts';
import { problemsAt } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { type JsonObject, listAt, objectAt, objectsAt, textAt, textsAt, valueAt } from '../values.ts';

/** Requires a review to have exactly one of `resourceAttributes` and `nonResourceAttributes`. */
function validateAttributes(object: ApiObject): FieldError[] {
  const resource = objectAt(object, 'spec', 'resourceAttributes');
  const other = objectAt(object, 'spec', 'nonResourceAttributes');
  const both = 'cannot be specified in combination with resourceAttributes';
  const none = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [
    ...(resource && other ? [invalidValue('spec.nonResourceAttributes', other, both)] : []),
    ...(resource || other ? [] : [invalidValue('spec.resourceAttributes', null, none)]),
  ];
}

function validateSubject(object: ApiObject): FieldError[] {
  const user = textAt(object, 'spec', 'user');
  if (user !== '' || listAt(object, 'spec', 'groups').length > 0) return [];
  return [invalidValue('spec.user', user, 'at least one of user or group must be specified')];
}

const validateSelectors = (object: ApiObject): FieldError[] =>
  ['fieldSelector', 'labelSelector'].flatMap((name) => {
    const selector = objectAt(object, 'spec', 'resourceAttributes', name);
    return selector === undefined ? [] : validateSelector(`spec.resourceAttributes.${name}`, selector);
  });

/** Validates a selector. Accepts unknown operators, which newer clients may use. */
function validateSelector(field: string, selector: JsonObject): FieldError[] {
  const raw = textAt(selector, 'rawSelector');
  const requirements = objectsAt(selector, 'requirements');
  const both = 'may not specified at the same time as requirements';
  const none = `when ${field} is specified, requirements or rawSelector is required`;
  const validate = field.endsWith('.labelSelector') ? validateLabel : validateField;
  return [
    ...(raw !== '' && requirements.length > 0 ? [invalidValue(`${field}.rawSelector`, raw, both)] : []),
    ...(raw === '' && requirements.length === 0 ? [required(`${field}.requirements`, none)] : []),
    ...requirements.flatMap((one, index) => validate(`${field}.requirements[${index}]`, one)),
  ];
}

function validateField(field: string, requirement: JsonObject): FieldError[] {
  const noKey = textAt(requirement, 'key') === '' ? [required(`${field}.key`, 'must be specified')] : [];
  return [...noKey, ...validateValues(`${field}.values`, requirement)];
}

const validateLabel = (field: string, requirement: JsonObject): FieldError[] => [
  ...validateValues(`${field}.values`, requirement),
  ...validateLabelName(`${field}.key`, textAt(requirement, 'key')),
  ...textsAt(requirement, 'values').flatMap((value, index) =>
    problemsAt(`${field}.values[${index}]`, value, labelValueProblems(value)),
  ),
];

function validateValues(field: string, requirement: JsonObject): FieldError[] {
  const operator = textAt(requirement, 'operator');
  const hasValues = listAt(requirement, 'values').length > 0;
  if (['In', 'NotIn'].includes(operator) && !hasValues)
    return [required(field, "must be specified when `operator` is 'In' or 'NotIn'")];
  if (['Exists', 'DoesNotExist'].includes(operator) && hasValues)
    return [forbiddenField(field, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  return [];
}

/** Validates the metadata of a review, which has no name. Only managedFields and the fields in `allowed` may be set. */
function validateMetadata(object: ApiObject, allowed: readonly string[]): FieldError[] {
  const ignored = ['managedFields', ...allowed];
  const isEmpty = Object.entries(object.metadata).every(([name, value]) => ignored.includes(name) || isZero(value));
  const detail = allowed.length === 0 ? 'must be empty' : `must be empty except for ${allowed.join(', ')}`;
  return isEmpty ? [] : [invalidValue('metadata', object.metadata, detail)];
}

const isZero = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === 0 ||
  (typeof value === 'object' && Object.keys(value).length === 0);

const validateSelf = (object: ApiObject): FieldError[] => [
  ...validateAttributes(object),
  ...validateSelectors(object),
  ...validateMetadata(object, []),
];

const validateAny = (object: ApiObject): FieldError[] => [
  ...validateAttributes(object),
  ...validateSubject(object),
  ...validateSelectors(object),
  ...validateMetadata(object, []),
];

function validateLocal(object: ApiObject): FieldError[] {
  const namespace = textAt(object, 'spec', 'resourceAttributes', 'namespace');
  const hasResource = objectAt(object, 'spec', 'resourceAttributes') !== undefined;
  const other = valueAt(object, 'spec', 'nonResourceAttributes');
  const isOther = hasResource && namespace !== (object.metadata.namespace ?? '');
  const field = 'spec.resourceAttributes.namespace';
  const disallowed = 'disallowed on this kind of request';
  return [
    ...validateAttributes(object),
    ...validateSubject(object),
    ...validateSelectors(object),
    ...validateMetadata(object, ['namespace']),
    ...(isOther ? [invalidValue(field, namespace, 'must match metadata.namespace')] : []),
    ...(other === undefined ? [] : [invalidValue('spec.nonResourceAttributes', other, disallowed)]),
  ];
}

const review = (validate: (object: ApiObject) => FieldError[]): Strategy => ({ validate, nameProblems: () => [] });

export const SUBJECT_ACCESS_REVIEW = review(validateAny);
export const SELF_SUBJECT_ACCESS_REVIEW = review(validateSelf);
export const LOCAL_SUBJECT_ACCESS_REVIEW = review(validateLocal);
/** Strategy for a review without field validation: upstream returns no field errors for it, so the server itself checks it. */
export const UNCHECKED_REVIEW = review(() => []);
