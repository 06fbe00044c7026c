/** Validates conditions of type metav1.Condition (apimachinery, meta/v1/validation). */
import { duplicate, type FieldError, invalidValue, notSupported, required, tooLong } from './field-error.ts';
import { validateLabelName } from './labels.ts';
import { patternProblem } from './names.ts';
import { type JsonObject, numberAt, objectsAt, textAt, valueAt } from './values.ts';

const STATUSES = ['False', 'True', 'Unknown'];
const MAX_REASON_BYTES = 1024;
const MAX_MESSAGE_BYTES = 32 * 1024;

/** Validates a list of conditions (ValidateConditions). */
export function validateConditions(field: string, conditions: unknown): FieldError[] {
  const seen = new Set<string>();
  return objectsAt(conditions).flatMap((condition, index) => {
    const at = `${field}[${index}]`;
    const type = textAt(condition, 'type');
    const repeated = seen.has(type) ? [duplicate(`${at}.type`, type)] : [];
    seen.add(type);
    return [...repeated, ...validateCondition(at, condition)];
  });
}

function validateCondition(field: string, condition: JsonObject): FieldError[] {
  const errors = validateLabelName(`${field}.type`, textAt(condition, 'type'));
  const status = textAt(condition, 'status');
  if (!STATUSES.includes(status)) errors.push(notSupported(`${field}.status`, status, STATUSES));
  const generation = numberAt(condition, 'observedGeneration') ?? 0;
  if (generation < 0)
    errors.push(invalidValue(`${field}.observedGeneration`, generation, 'must be greater than or equal to zero'));
  if (valueAt(condition, 'lastTransitionTime') === undefined) errors.push(required(`${field}.lastTransitionTime`));
  errors.push(...validateReason(`${field}.reason`, textAt(condition, 'reason')));
  if (Buffer.byteLength(textAt(condition, 'message')) > MAX_MESSAGE_BYTES)
    errors.push(tooLong(`${field}.message`, MAX_MESSAGE_BYTES));
  return errors;
}

const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonPattern = new RegExp(`^${REASON}$`);
const REASON_WORDS =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
const REASON_EXAMPLES = ['my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB'];

function validateReason(field: string, reason: string): FieldError[] {
  if (reason === '') return [required(field)];
  const problem = patternProblem(REASON_WORDS, REASON, REASON_EXAMPLES);
  return [
    ...(reasonPattern.test(reason) ? [] : [invalidValue(field, reason, problem)]),
    ...(Buffer.byteLength(reason) > MAX_REASON_BYTES ? [tooLong(field, MAX_REASON_BYTES)] : []),
  ];
}
