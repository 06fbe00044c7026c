/**
 * Patch errors, with upstream's messages. The error code determines the response status: `invalid_argument` is 400 BadRequest,
 * `failed_precondition` is 422 Invalid, `resource_exhausted` is 413 RequestEntityTooLarge, and `internal` is 500 InternalError.
 */
import { type ErrorCode, PodwrightError } from '@podwright/base';
import { isTooDeep } from '../json.ts';
import { formatGoValue, goTypeName } from './go-value.ts';

type PatchErrorCode = Extract<
  ErrorCode,
  'invalid_argument' | 'failed_precondition' | 'resource_exhausted' | 'internal'
>;

export const patchError = (code: PatchErrorCode, message: string): PodwrightError => new PodwrightError(code, message);

/** Rejects a patch that is nested too deeply, like Go's JSON decoder. */
export function checkDepth(patch: unknown): void {
  if (isTooDeep(patch)) throw patchError('invalid_argument', 'exceeded max depth');
}

/** Maximum length of a patch value in an error message, in characters. */
const MAX_SHOWN = 1000;

/** Formats a value for an error message. */
export const shownValue = (value: unknown): string => formatGoValue(value).slice(0, MAX_SHOWN);

/** Returns the error for a value of the wrong type. `expected` is the name of the expected type in Go. */
export const wrongValue = (expected: '[]interface {}' | 'map[string]interface {}', value: unknown): PodwrightError =>
  patchError('internal', `expected a ${expected}, but received a ${goTypeName(value)}`);

export const noMergeKey = (element: unknown, mergeKey: string): PodwrightError =>
  patchError('internal', `map: ${shownValue(element)} does not contain declared merge key: ${mergeKey}`);
