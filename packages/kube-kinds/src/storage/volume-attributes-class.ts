import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField } from '../field-error.ts';
import type { Strategy } from '../strategy.ts';
import { isSameValue, textAt } from '../values.ts';
import { validateParameters, validateProvisioner } from './parameters.ts';

const validate = (object: ApiObject): FieldError[] => [
  ...validateProvisioner('driverName', textAt(object, 'driverName')),
  ...validateParameters('parameters', object.parameters, { allowEmpty: false }),
];

function validateUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const changed = ['driverName', 'parameters'].filter((name) => !isSameValue(object[name], old[name]));
  return [...changed.map((name) => forbiddenField(name, `updates to ${name} are forbidden.`)), ...validate(object)];
}

export const VOLUME_ATTRIBUTES_CLASS: Strategy = { validate, validateUpdate };
