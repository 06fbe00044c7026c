/** The annotation used in autoscaling/v1 to carry the behavior of autoscaling/v2. */
import { isQuantity } from '@podwright/kube-api';
import { isObject, type JsonObject, objectAt, objectsAt, valueAt } from '../values.ts';

/** Returns an object with only the named fields that have a value. */
export const pick = (object: unknown, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.flatMap((name) => (valueAt(object, name) === undefined ? [] : [[name, valueAt(object, name)]])),
  );

/** Formats a behavior for the annotation. Upstream encodes Go structs, so field names are capitalized. */
export function behaviorText(behavior: JsonObject): string {
  const rules = (name: string) => {
    const found = objectAt(behavior, name);
    if (found === undefined) return null;
    const policies = objectsAt(found, 'policies').map(({ type, value, periodSeconds }) => ({
      Type: type,
      Value: value,
      PeriodSeconds: periodSeconds,
    }));
    return {
      StabilizationWindowSeconds: found.stabilizationWindowSeconds ?? null,
      SelectPolicy: found.selectPolicy ?? null,
      Policies: policies.length === 0 ? null : policies,
      Tolerance: found.tolerance ?? null,
    };
  };
  return JSON.stringify({ ScaleUp: rules('scaleUp'), ScaleDown: rules('scaleDown') });
}

/** Decodes a behavior from the annotation's value. Like Go, matches field names case-insensitively. */
export function behaviorFrom(value: unknown): JsonObject | undefined {
  const lower = withLowerNames(value, 0);
  if (!isObject(lower)) return undefined;
  const directions = ['scaleUp', 'scaleDown'].filter((name) => isObject(lower[name.toLowerCase()]));
  const rules = directions.map((name) => [name, rulesFrom(lower[name.toLowerCase()] as JsonObject)] as const);
  const isWrong = rules.some(([, one]) => one === undefined);
  return directions.length === 0 || isWrong ? undefined : (Object.fromEntries(rules) as JsonObject);
}

function rulesFrom(rules: JsonObject): JsonObject | undefined {
  const { stabilizationwindowseconds: window, selectpolicy: select, tolerance } = rules;
  const policies = objectsAt(rules, 'policies').map(({ type, value, periodseconds }) => ({
    type,
    value,
    periodSeconds: periodseconds,
  }));
  const areRight = policies.every(
    ({ type, value, periodSeconds }) => typeof type === 'string' && isInt32(value) && isInt32(periodSeconds),
  );
  const isRight =
    (window === undefined || isInt32(window)) &&
    (select === undefined || typeof select === 'string') &&
    (tolerance === undefined || (typeof tolerance === 'string' && isQuantity(tolerance)));
  if (!areRight || !isRight) return undefined;
  const entries = { stabilizationWindowSeconds: window, selectPolicy: select, tolerance };
  return { ...pick(entries, Object.keys(entries)), ...(policies.length === 0 ? {} : { policies }) };
}

const isInt32 = (value: unknown): boolean => typeof value === 'number' && (value | 0) === value;

const MAX_DEPTH = 5;

/** Converts field names to lower case, because Go matches them case-insensitively, and removes null fields. */
function withLowerNames(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return value.map((one) => withLowerNames(one, depth + 1));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(entries.map(([name, one]) => [name.toLowerCase(), withLowerNames(one, depth + 1)]));
}
