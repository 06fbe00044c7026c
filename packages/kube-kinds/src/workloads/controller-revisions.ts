import type { ApiObject } from '../api-object.ts';
import { Field } from '../field.ts';
import type { FieldError } from '../field-error.ts';
import type { Strategy } from '../strategy.ts';
import { isObject, isSameValue, numberAt } from '../values.ts';

function validate(object: ApiObject): FieldError[] {
  const field = new Field();
  field.at('revision').notNegative(numberAt(object, 'revision'));
  if (object.data === undefined || object.data === null) field.at('data').required('data is mandatory');
  else if (!isObject(object.data)) field.at('data').required('data must be a valid JSON object');
  return field.errors;
}

function validateUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const field = new Field();
  field.at('revision').notNegative(numberAt(object, 'revision'));
  if (!isSameValue(object.data, old.data)) field.at('data').invalid(object.data, 'field is immutable');
  return field.errors;
}

export const CONTROLLER_REVISIONS: Strategy = { validate, validateUpdate };
