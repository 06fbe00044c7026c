import type { ApiObject } from '../api-object.ts';
import { duplicate, type FieldError, notSupported, required } from '../field-error.ts';
import { validateLabelName } from '../labels.ts';
import { deprecatedNodeLabel } from '../node-selector.ts';
import { duplicates, repeats } from '../repeats.ts';
import { immutable } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { type JsonObject, objectsAt, textAt, textsAt } from '../values.ts';
import { validateParameters, validateProvisioner } from './parameters.ts';

const RECLAIM_POLICIES = ['Delete', 'Retain'];
const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer'];
const IMMUTABLE = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'];

function applyDefaults(object: ApiObject): ApiObject {
  const reclaimPolicy = object.reclaimPolicy ?? 'Delete';
  return { ...object, reclaimPolicy, volumeBindingMode: object.volumeBindingMode ?? 'Immediate' };
}

function validate(object: ApiObject): FieldError[] {
  const policy = textAt(object, 'reclaimPolicy');
  const mode = textAt(object, 'volumeBindingMode');
  const wrongPolicy = policy !== '' && !RECLAIM_POLICIES.includes(policy);
  return [
    ...validateProvisioner('provisioner', textAt(object, 'provisioner')),
    ...validateParameters('parameters', object.parameters, { allowEmpty: true }),
    ...(wrongPolicy ? [notSupported('reclaimPolicy', policy, RECLAIM_POLICIES)] : []),
    ...(BINDING_MODES.includes(mode) ? [] : [notSupported('volumeBindingMode', mode, BINDING_MODES)]),
    ...validateTopologies('allowedTopologies', objectsAt(object, 'allowedTopologies')),
  ];
}

const validateUpdate = (object: ApiObject, old: ApiObject): FieldError[] => [
  ...validate(object),
  ...IMMUTABLE.flatMap((name) => immutable(name, object[name], old[name])),
];

/**
 * Rejects topology selector terms that are empty or equivalent to an earlier term. Empty terms are reported as duplicates because upstream
 * also compares each term with an empty one.
 */
function validateTopologies(field: string, terms: readonly JsonObject[]): FieldError[] {
  const seen = new Set([keyOf([])]);
  return terms.flatMap((term, index) => {
    const expressions = objectsAt(term, 'matchLabelExpressions');
    const at = `${field}[${index}].matchLabelExpressions`;
    const key = keyOf(expressions);
    const repeated = seen.has(key) ? [duplicate(at, '')] : [];
    seen.add(key);
    return [...validateExpressions(at, expressions), ...repeated];
  });
}

function validateExpressions(field: string, expressions: readonly JsonObject[]): FieldError[] {
  const keys = expressions.map((expression) => textAt(expression, 'key'));
  const isRepeated = repeats(keys);
  return expressions.flatMap((expression, index) => {
    const at = `${field}[${index}]`;
    const key = keys[index]!;
    const values = textsAt(expression, 'values');
    return [
      ...(values.length === 0 ? [required(`${at}.values`)] : []),
      ...duplicates(values, (position) => `${at}.values[${position}]`),
      ...validateLabelName(`${at}.key`, key),
      ...(isRepeated[index] ? [duplicate(`${at}.key`, key)] : []),
    ];
  });
}

/** Returns a string that is equal for topology selector terms with the same keys and values, in any order. */
const keyOf = (expressions: readonly JsonObject[]): string =>
  JSON.stringify(expressions.map((one) => [textAt(one, 'key'), [...new Set(textsAt(one, 'values'))].sort()]).sort());

const warnings = (object: ApiObject): string[] =>
  objectsAt(object, 'allowedTopologies').flatMap((term, index) =>
    objectsAt(term, 'matchLabelExpressions').flatMap((expression, position) => {
      const message = deprecatedNodeLabel(textAt(expression, 'key'));
      const field = `allowedTopologies[${index}].matchLabelExpressions[${position}].key`;
      return message === undefined ? [] : [`${field}: ${message}`];
    }),
  );

export const STORAGE_CLASS: Strategy = { applyDefaults, validate, validateUpdate, warnings };
