/** Validates the node selectors of volumes and devices (core validation, ValidateNodeSelector), and warns about node labels. */
import { type FieldError, forbiddenField, invalidValue, required } from './field-error.ts';
import { validateLabelName } from './labels.ts';
import { dns1123SubdomainProblems, labelValueProblems } from './names.ts';
import { problemsAt } from './rules.ts';
import { type JsonObject, objectsAt, textAt, textsAt } from './values.ts';

/** `allowInvalidValues` is for updates of objects whose invalid values predate validation. */
type Options = { allowInvalidValues?: boolean };

export function validateNodeSelector(field: string, selector: unknown, options: Options = {}): FieldError[] {
  const terms = objectsAt(selector, 'nodeSelectorTerms');
  const at = `${field}.nodeSelectorTerms`;
  if (terms.length === 0) return [required(at, 'must have at least one node selector term')];
  return terms.flatMap((term, index) => validateNodeSelectorTerm(`${at}[${index}]`, term, options));
}

export function validateNodeSelectorTerm(field: string, term: JsonObject, options: Options): FieldError[] {
  const expressions = objectsAt(term, 'matchExpressions');
  const fields = objectsAt(term, 'matchFields');
  return [
    ...expressions.flatMap((one, index) => validateExpression(`${field}.matchExpressions[${index}]`, one, options)),
    ...fields.flatMap((one, index) => validateField(`${field}.matchFields[${index}]`, one)),
  ];
}

function validateExpression(field: string, expression: JsonObject, { allowInvalidValues }: Options): FieldError[] {
  const values = textsAt(expression, 'values');
  const wrongValues = values.flatMap((value, index) =>
    problemsAt(`${field}.values[${index}]`, value, labelValueProblems(value)),
  );
  return [
    ...validateOperator(field, textAt(expression, 'operator'), values.length),
    ...validateLabelName(`${field}.key`, textAt(expression, 'key')),
    ...(allowInvalidValues ? [] : wrongValues),
  ];
}

function validateOperator(field: string, operator: string, valueCount: number): FieldError[] {
  const values = `${field}.values`;
  switch (operator) {
    case 'In':
    case 'NotIn':
      return valueCount > 0 ? [] : [required(values, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      if (valueCount === 0) return [];
      return [forbiddenField(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case 'Gt':
    case 'Lt':
      if (valueCount === 1) return [];
      return [required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [invalidValue(`${field}.operator`, operator, 'not a valid selector operator')];
  }
}

/** Validates a requirement on a node field. The only valid field is the node's name. */
function validateField(field: string, requirement: JsonObject): FieldError[] {
  const operator = textAt(requirement, 'operator');
  const values = textsAt(requirement, 'values');
  const key = textAt(requirement, 'key');
  const errors: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn')
    errors.push(invalidValue(`${field}.operator`, operator, 'not a valid selector operator'));
  else if (values.length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(required(`${field}.values`, detail));
  }
  if (key !== 'metadata.name') return [...errors, invalidValue(`${field}.key`, key, 'not a valid field selector key')];
  const wrongNames = values.flatMap((value, index) =>
    problemsAt(`${field}.values[${index}]`, value, dns1123SubdomainProblems(value)),
  );
  return [...errors, ...wrongNames];
}

/** Returns true if the terms of a selector have invalid values. Updates of objects with such a selector may keep them. */
export const hasInvalidNodeSelectorValues = (selector: unknown): boolean =>
  objectsAt(selector, 'nodeSelectorTerms')
    .flatMap((term) => objectsAt(term, 'matchExpressions'))
    .some((expression) => textsAt(expression, 'values').some((value) => labelValueProblems(value).length > 0));

const DEPRECATED_LABELS: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
]);

/** Returns the warning for a deprecated node label, or `undefined` if the label is not deprecated. */
export const deprecatedNodeLabel = (label: string): string | undefined => DEPRECATED_LABELS.get(label);

/** Returns warnings about deprecated node labels in the expressions of a term or selector. `field` is its path. */
export function expressionWarnings(field: string, term: unknown): string[] {
  return objectsAt(term, 'matchExpressions').flatMap((expression, index) => {
    const key = textAt(expression, 'key');
    const message = deprecatedNodeLabel(key);
    return message === undefined ? [] : [`${field}.matchExpressions[${index}].key: ${key} is ${message}`];
  });
}
