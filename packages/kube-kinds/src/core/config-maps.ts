import type { ApiObject } from '../api-object.ts';
import { type FieldError, forbiddenField, invalidValue, tooLong } from '../field-error.ts';
import { problemsAt } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { configMapKeyProblems } from '../texts.ts';
import { booleanAt, isSameValue, textEntriesAt, valueAt } from '../values.ts';

/** Maximum size of the data in a ConfigMap or Secret, in bytes. */
export const MAX_DATA_BYTES = 1024 * 1024;
const IMMUTABLE = 'field is immutable when `immutable` is set';

export const configMaps: Strategy = {
  validate: validateConfigMap,
  validateUpdate: (object, old) => [
    ...validateImmutable(object, old, ['data', 'binaryData']),
    ...validateConfigMap(object),
  ],
};

function validateConfigMap(object: ApiObject): FieldError[] {
  const texts = textEntriesAt(object, 'data');
  const binaries = textEntriesAt(object, 'binaryData');
  const errors = [
    ...texts.flatMap(([key]) => [
      ...validateKey('data', key),
      ...(valueAt(object, 'binaryData', key) === undefined
        ? []
        : [invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData')]),
    ]),
    ...binaries.flatMap(([key]) => validateKey('binaryData', key)),
  ];
  const bytes = sum(texts, ([, text]) => Buffer.byteLength(text)) + sum(binaries, ([, data]) => base64Bytes(data));
  if (bytes > MAX_DATA_BYTES) errors.push(tooLong('', MAX_DATA_BYTES));
  return errors;
}

export const validateKey = (field: string, key: string): FieldError[] =>
  problemsAt(`${field}[${key}]`, key, configMapKeyProblems(key));

/** Rejects changes to an immutable ConfigMap or Secret. */
export function validateImmutable(object: ApiObject, old: ApiObject, fields: readonly string[]): FieldError[] {
  if (!booleanAt(old, 'immutable')) return [];
  const errors = booleanAt(object, 'immutable') ? [] : [forbiddenField('immutable', IMMUTABLE)];
  const changed = fields.filter((field) => !isSameValue(object[field], old[field]));
  return [...errors, ...changed.map((field) => forbiddenField(field, IMMUTABLE))];
}

/** Returns the decoded length of a base64 string. */
export const base64Bytes = (text: string): number => {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return (text.length / 4) * 3 - padding;
};

export const sum = <T>(items: readonly T[], amount: (item: T) => number): number =>
  items.reduce((total, item) => total + amount(item), 0);
