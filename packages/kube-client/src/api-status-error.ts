import { codeOfHttpStatus, type ErrorCode, PodwrightError } from '@podwright/base';

/** The fields of a failed request's meta/v1 Status that callers use. */
export type ApiStatus = {
  /** HTTP status. */
  code: number;
  /** `NotFound`, `AlreadyExists`, `Conflict`, `Expired`, …; '' if the server sent none. */
  reason: string;
  message: string;
  /** Seconds to wait before a retry, from the header `Retry-After` or the details. */
  retryAfterSeconds?: number;
  /** Details, for example about single fields. */
  causes?: { reason?: string; message?: string; field?: string }[];
};

/** A failure reported by the API server. Without a response a call rejects with `unavailable` or `deadline_exceeded`. */
export class ApiStatusError extends PodwrightError {
  readonly status: ApiStatus;

  constructor(what: string, status: ApiStatus) {
    super(codeOf(status.code), `${what}: ${status.message}`);
    this.status = status;
  }
}

/** Whether the API server reported the error with this reason or HTTP status. */
export function isApiStatus(error: unknown, wanted: string | number): error is ApiStatusError {
  if (!(error instanceof ApiStatusError)) return false;
  return typeof wanted === 'number' ? error.status.code === wanted : error.status.reason === wanted;
}

function codeOf(status: number): ErrorCode {
  return status === 410 ? 'out_of_range' : (codeOfHttpStatus(status, 'aborted') ?? 'unknown');
}
