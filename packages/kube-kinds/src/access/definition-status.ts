import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue } from '../field-error.ts';
import { booleanAt, objectAt, objectsAt, textAt, textsAt, valueAt, withValue } from '../values.ts';
import { validateNames } from './definition-names.ts';

const STORED_VERSIONS = ['status', 'storedVersions'];

/** Adds the current storage version to the stored versions. */
export function withStoredVersion(object: ApiObject): ApiObject {
  const version = objectsAt(object, 'spec', 'versions').find((one) => booleanAt(one, 'storage'));
  const stored = textsAt(object, ...STORED_VERSIONS);
  const name = textAt(version, 'name');
  if (version === undefined || stored.includes(name)) return object;
  return withValue(object, STORED_VERSIONS, [...stored, name]);
}

export const validateStatus = (object: ApiObject): FieldError[] =>
  validateNames('status.acceptedNames', objectAt(object, 'status', 'acceptedNames'));

export function validateStoredVersions(field: string, object: ApiObject): FieldError[] {
  const stored = textsAt(object, ...STORED_VERSIONS);
  const versions = objectsAt(object, 'spec', 'versions');
  if (stored.length === 0)
    return [invalidValue(field, valueAt(object, ...STORED_VERSIONS), 'must have at least one stored version')];
  const isStored = new Set(stored);
  const names = new Set(versions.map((version) => textAt(version, 'name')));
  const missing = versions.filter((one) => booleanAt(one, 'storage') && !isStored.has(textAt(one, 'name')));
  return [
    ...missing.map((one) => invalidValue(field, stored, `must have the storage version ${textAt(one, 'name')}`)),
    ...stored.flatMap((name, index) => {
      const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
      return names.has(name) ? [] : [invalidValue(`${field}[${index}]`, name, detail)];
    }),
  ];
}
