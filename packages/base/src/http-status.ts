import type { ErrorCode } from './errors.ts';

const CODES: Record<number, ErrorCode> = {
  400: 'invalid_argument',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  422: 'invalid_argument',
  429: 'resource_exhausted',
  501: 'unimplemented',
  503: 'unavailable',
  504: 'deadline_exceeded',
};

/**
 * Returns the error code for an HTTP error status; `undefined` for other statuses. `conflict`: the code for 409, whose meaning depends on
 * the API.
 */
export function codeOfHttpStatus(status: number, conflict: ErrorCode): ErrorCode | undefined {
  return status === 409 ? conflict : CODES[status];
}
