import { codeOfHttpStatus, type ErrorCode, PodwrightError } from '@podwright/base';

/** meta/v1 Status of a request that failed, as far as clients look at it. */
export type ApiStatus = {
  /** HTTP status. */
  code: number;
  /** `NotFound`, `AlreadyExists`, `Conflict`, `Expired`, …; '' where the server gave none. */
  reason: string;
  message: string;
  /** Seconds to wait before the request is sent again, from the header `Retry-After` or the details. */
  retryAfterSeconds?: number;
  /** What the server says of single fields, or of what it met. */
  causes?: { reason?: string; message?: string; field?: string }[];
};

/** The API server has answered, and refused. Without an answer a call rejects with `unavailable` or `deadline_exceeded`. */
export class ApiStatusError extends PodwrightError {
  readonly status: ApiStatus;

  constructor(what: string, status: ApiStatus) {
    super(codeOf(status.code), `${what}: ${status.message}`);
    this.status = status;
  }
}

/** The API server's answer in an error, if it is one of that reason or HTTP status. */
export function isApiStatus(error: unknown, wanted: string | number): error is ApiStatusError {
  if (!(error instanceof ApiStatusError)) return false;
  return typeof wanted === 'number' ? error.status.code === wanted : error.status.reason === wanted;
}

function codeOf(status: number): ErrorCode {
  return status === 410 ? 'out_of_range' : (codeOfHttpStatus(status, 'aborted') ?? 'unknown');
}
