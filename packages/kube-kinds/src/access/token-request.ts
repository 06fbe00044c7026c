import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue } from '../field-error.ts';
import type { Strategy } from '../strategy.ts';
import { numberAt, valueAt, withValue } from '../values.ts';

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;
const HOUR_SECONDS = 3600;
const EXPIRATION = ['spec', 'expirationSeconds'];

function validate(object: ApiObject): FieldError[] {
  const seconds = numberAt(object, ...EXPIRATION) ?? 0;
  const field = 'spec.expirationSeconds';
  if (seconds < MIN_TOKEN_SECONDS)
    return [invalidValue(field, seconds, 'may not specify a duration less than 10 minutes')];
  if (seconds <= MAX_TOKEN_SECONDS) return [];
  return [invalidValue(field, seconds, 'may not specify a duration larger than 2^32 seconds')];
}

const applyDefaults = (object: ApiObject): ApiObject =>
  valueAt(object, ...EXPIRATION) === undefined ? withValue(object, EXPIRATION, HOUR_SECONDS) : object;

/** Requests for service account tokens: answered, but not stored. */
export const TOKEN_REQUEST: Strategy = { applyDefaults, validate, nameProblems: () => [] };
