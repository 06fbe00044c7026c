import type { ApiObject } from '../api-object.ts';
import { type FieldError, invalidValue, required, tooLong } from '../field-error.ts';
import { immutable } from '../rules.ts';
import type { Strategy } from '../strategy.ts';
import { textAt, textEntriesAt, valueAt, withValue } from '../values.ts';
import { base64Bytes, MAX_DATA_BYTES, sum, validateImmutable, validateKey } from './config-maps.ts';
import { jsonMapProblem } from './go-json-errors.ts';
import { annotationOf } from './status.ts';
import { keyPairProblem } from './tls-key-pair.ts';

const ACCOUNT_NAME = 'kubernetes.io/service-account.name';
const TLS = 'kubernetes.io/tls';

export const secrets: Strategy = {
  applyDefaults: (object) => withStringData(object.type === undefined ? { ...object, type: 'Opaque' } : object),
  prepareForUpdate: (object, old) => (textAt(object, 'type') === '' ? withValue(object, ['type'], old.type) : object),
  validate: validateSecret,
  validateUpdate: (object, old) => [
    ...immutable('type', textAt(object, 'type'), textAt(old, 'type')),
    ...validateImmutable(object, old, ['data']),
    ...validateSecret(object),
  ],
  warnings: (object) => {
    if (object.type !== TLS) return [];
    const problem = keyPairProblem(dataOf(object, 'tls.crt'), dataOf(object, 'tls.key'));
    return problem === undefined ? [] : [problem];
  },
  selectableFields: { type: (object) => textAt(object, 'type') },
};

/** Moves the strings in `stringData` to `data`. `stringData` is never stored. */
function withStringData({ stringData, ...object }: ApiObject): ApiObject {
  const texts = textEntriesAt(stringData).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  if (texts.length === 0) return object as ApiObject;
  return { ...object, data: Object.fromEntries([...textEntriesAt(object, 'data'), ...texts]) } as ApiObject;
}

const dataOf = (object: ApiObject, key: string): Buffer => Buffer.from(textAt(object, 'data', key), 'base64');

function validateSecret(object: ApiObject): FieldError[] {
  const data = textEntriesAt(object, 'data');
  const errors = data.flatMap(([key]) => validateKey('data', key));
  if (sum(data, ([, text]) => base64Bytes(text)) > MAX_DATA_BYTES) errors.push(tooLong('data', MAX_DATA_BYTES));
  return [...errors, ...validateType(object)];
}

/** Validates the keys and annotations required in a Secret of a well-known type. */
function validateType(object: ApiObject): FieldError[] {
  const isAbsent = (key: string) => valueAt(object, 'data', key) === undefined;
  const missing = (...keys: string[]) => keys.filter(isAbsent).map((key) => required(`data[${key}]`));
  switch (object.type) {
    case 'kubernetes.io/service-account-token':
      return annotationOf(object, ACCOUNT_NAME) ? [] : [required(`metadata.annotations[${ACCOUNT_NAME}]`)];
    case 'kubernetes.io/dockercfg':
      return validateJson(object, '.dockercfg');
    case 'kubernetes.io/dockerconfigjson':
      return validateJson(object, '.dockerconfigjson');
    case 'kubernetes.io/basic-auth':
      return isAbsent('username') && isAbsent('password') ? missing('username', 'password') : [];
    case 'kubernetes.io/ssh-auth':
      return textAt(object, 'data', 'ssh-privatekey') === '' ? [required('data[ssh-privatekey]')] : [];
    case TLS:
      return missing('tls.crt', 'tls.key');
    default:
      return [];
  }
}

function validateJson(object: ApiObject, key: string): FieldError[] {
  const field = `data[${key}]`;
  if (valueAt(object, 'data', key) === undefined) return [required(field)];
  const problem = jsonMapProblem(dataOf(object, key).toString());
  return problem === undefined ? [] : [invalidValue(field, '<secret contents redacted>', problem)];
}
