/**
 * Patch errors, with upstream's texts. The error code determines the response status: `invalid_argument` is 400 BadRequest,
 * `failed_precondition` is 422 Invalid, `resource_exhausted` is 413 RequestEntityTooLarge, and `internal` is 500 InternalError.
 */
import { type ErrorCode, PodwrightError } from '@podwright/base';
import { isTooDeep } from '../json.ts';

type PatchErrorCode = Extract<
  ErrorCode,
  'invalid_argument' | 'failed_precondition' | 'resource_exhausted' | 'internal'
>;

export const patchError = (code: PatchErrorCode, message: string): PodwrightError => new PodwrightError(code, message);

/** Rejects a patch that is nested too deeply, like Go's JSON decoder. */
export function checkDepth(patch: unknown): void {
  if (isTooDeep(patch)) throw patchError('invalid_argument', 'exceeded max depth');
}
