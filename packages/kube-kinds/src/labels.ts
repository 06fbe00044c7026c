/** Labels and label selectors (apimachinery, meta/v1/validation and labels). */
import { type FieldError, forbiddenField, invalidValue, required } from './field-error.ts';
import { labelValueProblems, qualifiedNameProblems } from './names.ts';
import { objectAt, objectsAt, textAt, textEntriesAt, textsAt, valueAt } from './values.ts';

export type LabelRequirement = {
  key: string;
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  values: readonly string[];
};

/** Options for validating a selector. `allowInvalidValues` is for updates of objects whose invalid values predate validation. */
export type SelectorOptions = { allowInvalidValues?: boolean };

/** Validates a label key. It must be a qualified name (ValidateLabelName). */
export const validateLabelName = (field: string, name: string): FieldError[] =>
  qualifiedNameProblems(name).map((problem) => invalidValue(field, name, problem));

/** Validates a map of labels, such as `metadata.labels` or `matchLabels` (ValidateLabels). Keys are checked in lexical order. */
export function validateLabels(field: string, labels: unknown): FieldError[] {
  return textEntriesAt(labels).flatMap(([key, value]) => [
    ...validateLabelName(field, key),
    ...labelValueProblems(value).map((problem) => invalidValue(field, value, problem)),
  ]);
}

/** Validates a label selector (ValidateLabelSelector). It is optional. */
export function validateLabelSelector(field: string, selector: unknown, options: SelectorOptions = {}): FieldError[] {
  const expressions = objectsAt(selector, 'matchExpressions');
  return [
    ...validateLabels(`${field}.matchLabels`, objectAt(selector, 'matchLabels')),
    ...expressions.flatMap((one, index) => validateExpression(`${field}.matchExpressions[${index}]`, one, options)),
  ];
}

function validateExpression(field: string, expression: unknown, { allowInvalidValues }: SelectorOptions): FieldError[] {
  const values = textsAt(expression, 'values');
  const wrongValues = values.flatMap((value, index) =>
    labelValueProblems(value).map((problem) => invalidValue(`${field}.values[${index}]`, value, problem)),
  );
  return [
    ...validateOperator(field, textAt(expression, 'operator'), values.length),
    ...validateLabelName(`${field}.key`, textAt(expression, 'key')),
    ...(allowInvalidValues ? [] : wrongValues),
  ];
}

function validateOperator(field: string, operator: string, valueCount: number): FieldError[] {
  if (operator === 'In' || operator === 'NotIn') {
    if (valueCount > 0) return [];
    return [required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
  }
  if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (valueCount === 0) return [];
    return [forbiddenField(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  }
  return [invalidValue(`${field}.operator`, operator, 'not a valid selector operator')];
}

/** Returns true if a selector has invalid values. Updates of objects with such a selector may keep them. */
export const hasInvalidSelectorValues = (selector: unknown): boolean =>
  objectsAt(selector, 'matchExpressions').some((expression) =>
    textsAt(expression, 'values').some((value) => labelValueProblems(value).length > 0),
  );

/**
 * Returns the requirements of a valid selector (LabelSelectorAsSelector), sorted by key. Returns `undefined` for an absent selector, which
 * matches nothing; an empty selector matches everything.
 */
export function selectorRequirements(selector: unknown): readonly LabelRequirement[] | undefined {
  if (selector === undefined || selector === null) return undefined;
  const equal = textEntriesAt(selector, 'matchLabels').map(
    ([key, value]): LabelRequirement => ({ key, operator: 'In', values: [value] }),
  );
  const expressions = objectsAt(selector, 'matchExpressions').map((one) => ({
    key: textAt(one, 'key'),
    operator: textAt(one, 'operator') as LabelRequirement['operator'],
    values: textsAt(one, 'values'),
  }));
  return [...equal, ...expressions].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

/** Returns true if the labels meet all requirements. `undefined` (an absent selector) matches nothing. */
export const matchesRequirements = (requirements: readonly LabelRequirement[] | undefined, labels: unknown): boolean =>
  requirements?.every((requirement) => meets(requirement, labels)) ?? false;

/** Returns true if the selector matches the labels. */
export const matchesSelector = (selector: unknown, labels: unknown): boolean =>
  matchesRequirements(selectorRequirements(selector), labels);

function meets({ key, operator, values }: LabelRequirement, labels: unknown): boolean {
  const value = valueAt(labels, key);
  switch (operator) {
    case 'In':
      return typeof value === 'string' && values.includes(value);
    case 'NotIn':
      return typeof value !== 'string' || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}
