import { randomUUID } from 'node:crypto';
import type { ApiObject } from '../api-object.ts';
import { duplicate, type FieldError, forbiddenField, invalidValue, required } from '../field-error.ts';
import { qualifiedNameProblems } from '../names.ts';
import { validateContainerResourceName, validateResourceName } from '../resource-names.ts';
import { problemsAt } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { type JsonObject, objectAt, objectsAt, textAt, textEntriesAt, valueAt, withItems } from '../values.ts';
import { validateLimitAmounts } from './limit-amounts.ts';
import { withRoundedAmounts } from './status.ts';

const TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];
const LISTS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'];

export const limitRanges: Strategy = {
  applyDefaults: (object) => withItems(object, ['spec', 'limits'], (limit) => withDefaults(rounded(limit))),
  prepareForCreate: (object) =>
    object.metadata.name ? object : { ...object, metadata: { ...object.metadata, name: randomUUID() } },
  validate: validateLimitRange,
  validateUpdate: validateLimitRange,
  allowCreateOnUpdate: true,
};

const rounded = (limit: JsonObject): JsonObject =>
  LISTS.reduce((result, list) => withRoundedAmounts(result, [list]), limit);

/**
 * Sets the defaults of a container limit: the default limit defaults to the maximum, and the default request to the default limit or,
 * failing that, the minimum.
 */
function withDefaults(limit: JsonObject): JsonObject {
  if (limit.type !== 'Container') return limit;
  const limits = { ...objectAt(limit, 'max'), ...objectAt(limit, 'default') };
  const requests = { ...objectAt(limit, 'min'), ...limits, ...objectAt(limit, 'defaultRequest') };
  return {
    ...limit,
    ...(Object.keys(limits).length > 0 ? { default: limits } : {}),
    ...(Object.keys(requests).length > 0 ? { defaultRequest: requests } : {}),
  };
}

function validateLimitRange(object: ApiObject): FieldError[] {
  const seen = new Set<string>();
  return objectsAt(object, 'spec', 'limits').flatMap((limit, index) => {
    const field = `spec.limits[${index}]`;
    const type = textAt(limit, 'type');
    const repeated = seen.has(type) ? [duplicate(`${field}.type`, type)] : [];
    seen.add(type);
    return [...validateType(`${field}.type`, type), ...repeated, ...validateLimit(field, limit)];
  });
}

function validateType(field: string, type: string): FieldError[] {
  const errors = problemsAt(field, type, qualifiedNameProblems(type));
  if (errors.length > 0 || type.includes('/') || TYPES.includes(type)) return errors;
  return [invalidValue(field, type, 'must be a standard limit type or fully qualified')];
}

function validateLimit(field: string, limit: JsonObject): FieldError[] {
  const isPod = limit.type === 'Pod';
  const forbidden = ['default', 'defaultRequest'].filter((list) => isPod && objectAt(limit, list) !== undefined);
  return [
    ...validateNames(field, limit, ['max', 'min']),
    ...(isPod
      ? forbidden.map((list) => forbiddenField(`${field}.${list}`, "may not be specified when `type` is 'Pod'"))
      : validateNames(field, limit, ['default', 'defaultRequest'])),
    ...validateClaimLimit(field, limit),
    ...validateNames(field, limit, ['maxLimitRequestRatio']),
    ...validateLimitAmounts(field, isPod ? { ...limit, default: undefined, defaultRequest: undefined } : limit),
  ];
}

function validateNames(field: string, limit: JsonObject, lists: readonly string[]): FieldError[] {
  const isContainer = limit.type === 'Pod' || limit.type === 'Container';
  const rule = isContainer ? validateContainerResourceName : validateResourceName;
  return lists.flatMap((list) =>
    textEntriesAt(limit, list).flatMap(([name]) => rule(`${field}.${list}[${name}]`, name)),
  );
}

function validateClaimLimit(field: string, limit: JsonObject): FieldError[] {
  const isBounded = ['min', 'max'].some((list) => valueAt(limit, list, 'storage') !== undefined);
  if (limit.type !== 'PersistentVolumeClaim' || isBounded) return [];
  const detail = 'either minimum or maximum storage value is required, but neither was provided';
  return [required(`${field}.limits`, detail)];
}
