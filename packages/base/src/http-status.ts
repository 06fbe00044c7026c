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

/** What an HTTP answer that is no success means. `conflict` is what the API that gave it means by 409; undefined for any other status. */
export function codeOfHttpStatus(status: number, conflict: ErrorCode): ErrorCode | undefined {
  return status === 409 ? conflict : CODES[status];
}
