import { type FieldError, invalidValue, required, tooLong } from '../field-error.ts';
import { isObject, type JsonObject, objectAt, textAt, textsAt, valueAt } from '../values.ts';
import { validateSet } from './device-lists.ts';
import { validateReference } from './device-requests.ts';
import { validateDriverName } from './driver-name.ts';

export const MAX_REQUESTS = 32;
export const MAX_CONFIGS = 32;
const MAX_PARAMETERS_BYTES = 10 * 1024;

/** Validates the opaque parameters for a driver. */
export function validateConfig(field: string, config: JsonObject): FieldError[] {
  const opaque = objectAt(config, 'opaque');
  if (opaque === undefined) return [required(`${field}.opaque`)];
  return [
    ...validateDriverName(`${field}.opaque.driver`, textAt(opaque, 'driver')),
    ...validateRaw(`${field}.opaque.parameters`, valueAt(opaque, 'parameters')),
  ];
}

/** Validates driver parameters. They may be any JSON object. */
export function validateRaw(field: string, value: unknown): FieldError[] {
  if (value === undefined) return [required(field)];
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_PARAMETERS_BYTES) return [tooLong(field, MAX_PARAMETERS_BYTES)];
  return isObject(value) ? [] : [invalidValue(field, '<value omitted>', 'must be a valid JSON object')];
}

/** Validates a configuration entry of a ResourceClaim. The entry applies to the device requests that it lists. */
export const validateConfigFor =
  (names: ReadonlySet<string>) =>
  (field: string, config: JsonObject): FieldError[] => [
    ...validateReferences(`${field}.requests`, textsAt(config, 'requests'), names),
    ...validateConfig(field, config),
  ];

export const validateReferences = (
  field: string,
  references: readonly string[],
  names: ReadonlySet<string>,
): FieldError[] =>
  validateSet(field, references, {
    max: MAX_REQUESTS,
    validate: (at, name) => validateReference(at, name, names),
    key: (name) => name,
  });
