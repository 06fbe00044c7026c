import { type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { validateLabelName } from '../labels.ts';
import { labelValueProblems } from '../names.ts';
import { type JsonObject, textAt, valueAt } from '../values.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Validates a node's taints. Each pair of key and effect must be unique. */
export function validateTaints(field: string, taints: readonly JsonObject[]): FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const at = `${field}[${index}]`;
    const key = textAt(taint, 'key');
    const effect = textAt(taint, 'effect');
    const pair = `${effect} ${key}`;
    const errors = [...validateTaint(at, taint), ...(seen.has(pair) ? [duplicateTaint(at, taint)] : [])];
    seen.add(pair);
    return errors;
  });
}

function validateTaint(field: string, taint: JsonObject): FieldError[] {
  const value = textAt(taint, 'value');
  const problems = labelValueProblems(value);
  return [
    ...validateLabelName(`${field}.key`, textAt(taint, 'key')),
    ...(problems.length > 0 ? [invalidValue(`${field}.value`, value, problems.join(';'))] : []),
    ...validateEffect(`${field}.effect`, textAt(taint, 'effect')),
  ];
}

function validateEffect(field: string, effect: string): FieldError[] {
  if (effect === '') return [required(field)];
  return EFFECTS.includes(effect) ? [] : [notSupported(field, effect, EFFECTS)];
}

/** Returns the error for a duplicate taint. As in upstream, it shows the taint's internal form. */
function duplicateTaint(field: string, taint: JsonObject): FieldError {
  const shown = {
    Key: textAt(taint, 'key'),
    Value: textAt(taint, 'value'),
    Effect: textAt(taint, 'effect'),
    TimeAdded: valueAt(taint, 'timeAdded') ?? null,
  };
  const message = `Duplicate value: ${JSON.stringify(shown)}: taints must be unique by key and effect pair`;
  return { reason: 'FieldValueDuplicate', field, message };
}

/** Validates the tolerations of a RuntimeClass. They must be unique. */
export function validateUniqueTolerations(field: string, tolerations: readonly JsonObject[]): FieldError[] {
  const seen = new Set<string>();
  const repeated = tolerations.flatMap((toleration, index): FieldError[] => {
    const key = JSON.stringify(['key', 'operator', 'value', 'effect'].map((name) => textAt(toleration, name)));
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    const message = `Duplicate value: ${JSON.stringify(internalToleration(toleration))}`;
    return [{ reason: 'FieldValueDuplicate', field: `${field}[${index}]`, message }];
  });
  return [...tolerations.flatMap((one, index) => validateToleration(`${field}[${index}]`, one)), ...repeated];
}

const internalToleration = (toleration: JsonObject) => ({
  Key: textAt(toleration, 'key'),
  Operator: textAt(toleration, 'operator'),
  Value: textAt(toleration, 'value'),
  Effect: textAt(toleration, 'effect'),
  TolerationSeconds: valueAt(toleration, 'tolerationSeconds') ?? null,
});

function validateToleration(field: string, toleration: JsonObject): FieldError[] {
  const [key, operator, effect] = ['key', 'operator', 'effect'].map((name) => textAt(toleration, name)) as [
    string,
    string,
    string,
  ];
  const errors = key === '' ? [] : validateLabelName(`${field}.key`, key);
  if (key === '' && operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(invalidValue(`${field}.operator`, operator, detail));
  }
  if (valueAt(toleration, 'tolerationSeconds') !== undefined && effect !== 'NoExecute')
    errors.push(invalidValue(`${field}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  errors.push(...validateOperator(`${field}.operator`, operator, textAt(toleration, 'value')));
  return effect === '' ? errors : [...errors, ...validateEffect(`${field}.effect`, effect)];
}

function validateOperator(field: string, operator: string, value: string): FieldError[] {
  if (operator === '' || operator === 'Equal') {
    const problems = labelValueProblems(value);
    return problems.length === 0 ? [] : [invalidValue(field, value, problems.join(';'))];
  }
  if (operator === 'Exists')
    return value === '' ? [] : [invalidValue(field, value, "value must be empty when `operator` is 'Exists'")];
  const isNumeric = operator === 'Lt' || operator === 'Gt';
  return [notSupported(field, operator, ['Equal', 'Exists', ...(isNumeric ? ['Lt', 'Gt'] : [])])];
}
