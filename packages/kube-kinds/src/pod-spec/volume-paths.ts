/** Validates paths in volumes. */
import type { Field } from '../field.ts';
import { type JsonObject, numberAt, textAt } from '../values.ts';

const MAX_MODE = 0o777;

export const hasBacksteps = (path: string): boolean => path.split('/').includes('..');

/** Rejects paths containing `..` (validatePathNoBacksteps). */
export function validateNoBacksteps(path: string, field: Field): void {
  if (hasBacksteps(path)) field.invalid(path, "must not contain '..'");
}

/** Requires a relative path without `..` (validateLocalDescendingPath). */
export function validateDescendingPath(path: string, field: Field): void {
  if (path.startsWith('/')) field.invalid(path, 'must be a relative path');
  validateNoBacksteps(path, field);
}

/** Validates the path of a file in a volume (ValidateLocalNonReservedPath). Names starting with `..` are reserved for the atomic writer. */
export function validateFilePath(path: string, field: Field): void {
  validateDescendingPath(path, field);
  if (path.startsWith('..') && !path.startsWith('../')) field.invalid(path, "must not start with '..'");
}

export function validateMode(mode: number | undefined, field: Field): void {
  if (mode !== undefined && (mode < 0 || mode > MAX_MODE))
    field.invalid(mode, 'must be a number between 0 and 0777 (octal), both inclusive');
}

/** Validates a mapping from a key to a path (validateKeyToPath). */
export function validateKeyToPath(item: JsonObject, field: Field): void {
  if (textAt(item, 'key') === '') field.at('key').required();
  if (textAt(item, 'path') === '') field.at('path').required();
  validateFilePath(textAt(item, 'path'), field.at('path'));
  validateMode(numberAt(item, 'mode'), field.at('mode'));
}
