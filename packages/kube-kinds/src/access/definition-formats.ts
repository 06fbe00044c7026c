import type { ApiObject } from '../api-object.ts';
import { isObject, objectAt, objectsAt } from '../values.ts';

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
  string: [
    ...['bsonobjectid', 'uri', 'email', 'hostname', 'ipv4', 'ipv6', 'cidr', 'mac', 'uuid', 'uuid3', 'uuid4', 'uuid5'],
    ...['isbn', 'isbn10', 'isbn13', 'creditcard', 'ssn', 'hexcolor', 'rgbcolor', 'byte', 'password', 'date'],
    ...['duration', 'datetime', 'k8sshortname', 'k8slongname'],
  ],
};

/** Returns the formats in a definition's schemas that are unknown to the server and therefore ignored. */
export const unknownFormats = (object: ApiObject): string[] =>
  objectsAt(object, 'spec', 'versions').flatMap((version) => formatsIn(objectAt(version, 'schema', 'openAPIV3Schema')));

const MAX_FORMATS = 100;

/**
 * Returns the unknown formats in a schema, including those nested in lists and maps. Recursion cannot overflow the stack, because decoded
 * objects are at most 1,000 levels deep.
 */
function formatsIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(formatsIn).slice(0, MAX_FORMATS);
  if (!isObject(schema)) return [];
  const { format, type } = schema;
  const own = typeof format === 'string' && format !== '' && !isKnown(format, type) ? [format] : [];
  return [...own, ...Object.values(schema).flatMap(formatsIn)].slice(0, MAX_FORMATS);
}

function isKnown(format: string, type: unknown): boolean {
  if (type === 'integer' || type === 'number') return FORMATS[type]!.includes(format);
  const isText = type === undefined || type === '' || type === 'string';
  return isText && FORMATS.string!.includes(format.replaceAll('-', ''));
}
