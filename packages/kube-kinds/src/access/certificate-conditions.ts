/** Conditions of certificate signing requests, including the approval decisions. */
import { formatTime } from '@podwright/kube-api';
import type { ApiObject } from '../api-object.ts';
import { duplicate, type FieldError, forbiddenField, invalidValue, notSupported, required } from '../field-error.ts';
import { jsonDiff } from '../json-diff.ts';
import { repeats } from '../repeats.ts';
import { isSameValue, type JsonObject, objectsAt, textAt, withItems, withValue } from '../values.ts';

const DECISIONS = ['Approved', 'Denied'];
const FINAL = [...DECISIONS, 'Failed'];
const STATUSES = ['False', 'True', 'Unknown'];

const conditionsOf = (object: ApiObject | undefined): readonly JsonObject[] =>
  objectsAt(object, 'status', 'conditions');
const typesOf = (object: ApiObject | undefined): string[] => conditionsOf(object).map((one) => textAt(one, 'type'));

/** Validates the conditions. Tolerates violations already present in the old object. */
export function validateConditions(field: string, object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const types = typesOf(object);
  const before = new Set(typesOf(old));
  const hadBoth = DECISIONS.every((type) => before.has(type));
  const hadRepeated = before.size < typesOf(old).length;
  const isRepeated = repeats(types);
  const isAfterOther = areAfterOther(types);
  const both = 'Approved and Denied conditions are mutually exclusive';
  return conditionsOf(object).flatMap((condition, index) => {
    const at = `${field}[${index}]`;
    const type = types[index]!;
    return [
      ...(type === '' && !before.has('') ? [required(`${at}.type`)] : []),
      ...validateStatus(`${at}.status`, condition),
      ...(!hadBoth && isAfterOther[index] ? [invalidValue(field, type, both)] : []),
      ...(!hadRepeated && isRepeated[index] ? [duplicate(`${at}.type`, type)] : []),
    ];
  });
}

/** Returns for each condition whether it is an approval decision that follows the opposite decision. */
function areAfterOther(types: readonly string[]): boolean[] {
  const firstOf = DECISIONS.map((decision) => types.indexOf(decision));
  return types.map((type, index) => {
    const others = firstOf.filter((_, number) => DECISIONS[number] !== type);
    return DECISIONS.includes(type) && others.some((first) => first >= 0 && first < index);
  });
}

function validateStatus(field: string, condition: JsonObject): FieldError[] {
  const status = textAt(condition, 'status');
  const supported = FINAL.includes(textAt(condition, 'type')) ? ['True'] : STATUSES;
  if (status === '') return [required(field)];
  return supported.includes(status) ? [] : [notSupported(field, status, supported)];
}

const withType = (object: ApiObject, type: string): readonly JsonObject[] =>
  conditionsOf(object).filter((condition) => textAt(condition, 'type') === type);

/** Rejects the removal of approval decisions and `Failed` conditions from a certificate signing request. */
export const validateRemoval = (field: string, object: ApiObject, old: ApiObject): FieldError[] =>
  FINAL.filter((type) => withType(object, type).length < withType(old, type).length).map((type) =>
    forbiddenField(field, `updates may not remove a condition of type ${JSON.stringify(type)}`),
  );

/** Rejects approval decisions added or changed by an update, because only the approval subresource may be used for that. */
export function validateApprovalChange(field: string, object: ApiObject, old: ApiObject): FieldError[] {
  return DECISIONS.flatMap((type) => {
    const [conditions, before] = [withType(object, type), withType(old, type)];
    const named = `a condition of type ${JSON.stringify(type)}`;
    if (conditions.length < before.length) return [];
    if (conditions.length > before.length) return [forbiddenField(field, `updates may not add ${named}`)];
    if (isSameValue(conditions, before)) return [];
    return [forbiddenField(field, `updates may not modify ${named}\n${jsonDiff(before, conditions)}`)];
  });
}

/** Keeps the old object's decisions, unless their number differs, in which case validation fails. */
export function withOldDecisions(object: ApiObject, old: ApiObject): ApiObject {
  return DECISIONS.reduce((result, type) => {
    const before = [...withType(old, type)];
    if (before.length === 0 || before.length !== withType(result, type).length) return result;
    return withItems(result, ['status', 'conditions'], (condition) =>
      textAt(condition, 'type') === type ? before.shift()! : condition,
    );
  }, object);
}

/** Sets missing condition times. Conditions with unchanged status keep their old transition time. */
export function withConditionTimes(object: ApiObject, old: ApiObject): ApiObject {
  const now = formatTime(Date.now());
  const key = (condition: JsonObject) => JSON.stringify([textAt(condition, 'type'), textAt(condition, 'status')]);
  const timed = conditionsOf(old).filter((one) => textAt(one, 'lastTransitionTime') !== '');
  const times = new Map(timed.toReversed().map((one) => [key(one), textAt(one, 'lastTransitionTime')]));
  return withItems(object, ['status', 'conditions'], (condition) => {
    const changed = textAt(condition, 'lastTransitionTime') || times.get(key(condition)) || now;
    const updated = textAt(condition, 'lastUpdateTime') || now;
    return withValue(withValue(condition, ['lastUpdateTime'], updated), ['lastTransitionTime'], changed);
  });
}
