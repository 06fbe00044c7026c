import { type FieldError, invalidValue, notSupported, required } from '../field-error.ts';
import { type JsonObject, textAt, valueAt } from '../values.ts';

/** Rejects paths containing `..` (validatePathNoBacksteps). */
const validateSteps = (field: string, path: string): FieldError[] =>
  path.split('/').includes('..') ? [invalidValue(field, path, "must not contain '..'")] : [];

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

export function validateHostPath(field: string, source: JsonObject): FieldError[] {
  const path = textAt(source, 'path');
  if (path === '') return [required(`${field}.path`)];
  const type = valueAt(source, 'type');
  const wrongType = type !== undefined && !HOST_PATH_TYPES.includes(String(type));
  return [
    ...validateSteps(`${field}.path`, path),
    ...(wrongType ? [notSupported(`${field}.type`, type, HOST_PATH_TYPES)] : []),
  ];
}

export function validateLocal(field: string, source: JsonObject): FieldError[] {
  const path = textAt(source, 'path');
  return path === '' ? [required(`${field}.path`)] : validateSteps(`${field}.path`, path);
}

export function validateNfs(field: string, source: JsonObject): FieldError[] {
  const path = textAt(source, 'path');
  return [
    ...(textAt(source, 'server') === '' ? [required(`${field}.server`)] : []),
    ...(path === '' ? [required(`${field}.path`)] : []),
    ...(path.startsWith('/') ? [] : [invalidValue(`${field}.path`, path, 'must be an absolute path')]),
  ];
}
