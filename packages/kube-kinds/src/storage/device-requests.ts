/** Device requests in claims. A request is either for exactly one type of device, or for the first available of several. */
import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, notSupported, required, tooLong } from '../field-error.ts';
import { validateLabelName } from '../labels.ts';
import { labelValueProblems } from '../names.ts';
import { isDnsLabel, isDnsSubdomain, problemsAt } from '../rules.ts';
import { type JsonObject, numberAt, objectAt, objectsAt, textAt, withItems, withValue } from '../values.ts';
import { validateItems, validateSet } from './device-lists.ts';

const MAX_SELECTORS = 32;
const MAX_FIRST_AVAILABLE = 8;
const MAX_EXPRESSION_BYTES = 10 * 1024;
const EFFECTS = ['NoExecute', 'NoSchedule', 'None'];

/** Sets the defaults of device requests. `path` is the path of the request list in a claim or claim template. */
export const withRequestDefaults = (object: ApiObject, path: readonly string[]): ApiObject =>
  withItems(object, path, (request) => {
    const exactly = objectAt(request, 'exactly');
    const filled = exactly === undefined ? request : { ...request, exactly: withModeDefaults(exactly) };
    return withItems(filled, ['firstAvailable'], withModeDefaults);
  });

function withModeDefaults(request: JsonObject): JsonObject {
  const allocationMode = textAt(request, 'allocationMode') || 'ExactCount';
  const count = numberAt(request, 'count') ?? 0;
  const filled = allocationMode === 'ExactCount' && count === 0 ? { count: 1 } : {};
  return withTolerationDefaults({ ...request, allocationMode, ...filled });
}

export const withTolerationDefaults = (request: JsonObject): JsonObject =>
  withItems(request, ['tolerations'], (one) => withValue(one, ['operator'], textAt(one, 'operator') || 'Equal'));

export function validateRequest(field: string, request: JsonObject): FieldError[] {
  const exactly = objectAt(request, 'exactly');
  const others = objectsAt(request, 'firstAvailable');
  const errors = isDnsLabel(`${field}.name`, textAt(request, 'name'));
  const one = 'exactly one of `exactly` or `firstAvailable` is required';
  if (exactly === undefined && others.length === 0) return [...errors, required(field, one)];
  if (exactly !== undefined && others.length > 0)
    return [...errors, invalidValue(field, null, `${one}, but multiple fields are set`)];
  if (exactly !== undefined) return [...errors, ...validateDevices(`${field}.exactly`, exactly)];
  const set = {
    max: MAX_FIRST_AVAILABLE,
    validate: validateSubRequest,
    key: (item: JsonObject) => textAt(item, 'name'),
  };
  return [...errors, ...validateSet(`${field}.firstAvailable`, others, set)];
}

const validateSubRequest = (field: string, request: JsonObject): FieldError[] => [
  ...isDnsLabel(`${field}.name`, textAt(request, 'name')),
  ...validateDevices(field, request),
];

function validateDevices(field: string, request: JsonObject): FieldError[] {
  const name = textAt(request, 'deviceClassName');
  const tolerations = objectsAt(request, 'tolerations');
  return [
    ...(name === '' ? [required(`${field}.deviceClassName`)] : isDnsSubdomain(`${field}.deviceClassName`, name)),
    ...validateSelectors(`${field}.selectors`, objectsAt(request, 'selectors')),
    ...validateMode(field, request),
    ...validateItems(`${field}.tolerations`, tolerations, { validate: validateToleration }),
  ];
}

export const validateSelectors = (field: string, selectors: readonly JsonObject[]): FieldError[] =>
  validateItems(field, selectors, { max: MAX_SELECTORS, validate: validateSelector });

/** Validates a device selector. Its CEL expression is not compiled. */
function validateSelector(field: string, selector: JsonObject): FieldError[] {
  const cel = objectAt(selector, 'cel');
  if (cel === undefined) return [required(`${field}.cel`)];
  const isLong = Buffer.byteLength(textAt(cel, 'expression')) > MAX_EXPRESSION_BYTES;
  return isLong ? [tooLong(`${field}.cel.expression`, MAX_EXPRESSION_BYTES)] : [];
}

function validateMode(field: string, request: JsonObject): FieldError[] {
  const mode = textAt(request, 'allocationMode');
  const count = numberAt(request, 'count') ?? 0;
  const wrongCount = (detail: string) => [invalidValue(`${field}.count`, count, detail)];
  switch (mode) {
    case 'All':
      return count === 0 ? [] : wrongCount("must not be specified when allocationMode is 'All'");
    case 'ExactCount':
      return count > 0 ? [] : wrongCount('must be greater than zero');
    default:
      return [notSupported(`${field}.allocationMode`, mode, ['All', 'ExactCount'])];
  }
}

function validateToleration(field: string, toleration: JsonObject): FieldError[] {
  const key = textAt(toleration, 'key');
  const effect = textAt(toleration, 'effect');
  const wrongEffect = effect !== '' && !EFFECTS.includes(effect);
  return [
    ...(key === '' ? [] : validateLabelName(`${field}.key`, key)),
    ...validateOperator(field, textAt(toleration, 'operator'), textAt(toleration, 'value')),
    ...(wrongEffect ? [notSupported(`${field}.effect`, effect, EFFECTS)] : []),
  ];
}

function validateOperator(field: string, operator: string, value: string): FieldError[] {
  switch (operator) {
    case 'Exists':
      return value === '' ? [] : [invalidValue(`${field}.value`, value, 'must be empty for operator `Exists`')];
    case 'Equal':
      return problemsAt(`${field}.value`, value, labelValueProblems(value));
    case '':
      return [required(`${field}.operator`)];
    default:
      return [notSupported(`${field}.operator`, operator, ['Equal', 'Exists'])];
  }
}

/** Validates a device taint. */
export function validateTaint(field: string, taint: JsonObject): FieldError[] {
  const value = textAt(taint, 'value');
  const effect = textAt(taint, 'effect');
  const wrongEffect = effect === '' ? required(`${field}.effect`) : notSupported(`${field}.effect`, effect, EFFECTS);
  return [
    ...validateLabelName(`${field}.key`, textAt(taint, 'key')),
    ...problemsAt(`${field}.value`, value, labelValueProblems(value)),
    ...(EFFECTS.includes(effect) ? [] : [wrongEffect]),
  ];
}

/**
 * Returns the names that other parts of a claim can use to refer to its requests. An alternative of a request is named
 * `<request>/<alternative>`.
 */
export function requestNames(devices: unknown): ReadonlySet<string> {
  return new Set(
    objectsAt(devices, 'requests').flatMap((request) => {
      const name = textAt(request, 'name');
      return [name, ...objectsAt(request, 'firstAvailable').map((one) => `${name}/${textAt(one, 'name')}`)];
    }),
  );
}

/** Validates a reference to a device request. */
export function validateReference(field: string, name: string, names: ReadonlySet<string>): FieldError[] {
  const detail =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  const segments = name.split('/', 3);
  if (segments.length > 2) return [invalidValue(field, name, detail)];
  const problems = segments.flatMap((segment) => isDnsLabel(field, segment));
  return names.has(name) ? problems : [...problems, invalidValue(field, name, detail)];
}
