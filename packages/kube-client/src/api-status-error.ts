import { codeOfHttpStatus, type ErrorCode, PodwrightError } from '@podwright/base';

/** The fields of a failed request's meta/v1 Status that callers use. */
export type ApiStatus = {
  /** HTTP status code. */
  code: number;
  /** `NotFound`, `AlreadyExists`, `Conflict`, `Expired`, …; '' if the server did not send a reason. */
  reason: string;
  message: string;
  /** Seconds to wait before retrying, from the `Retry-After` header or the Status's details. */
  retryAfterSeconds?: number;
  /** The Status's causes, for example one per invalid field. */
  causes?: { reason?: string; message?: string; field?: string }[];
};

/** A failure reported by the API server. A call without a response rejects with `unavailable` or `deadline_exceeded` instead. */
export class ApiStatusError extends PodwrightError {
  readonly status: ApiStatus;

  constructor(what: string, status: ApiStatus) {
    super(codeOf(status.code), `${what}: ${status.message}`);
    this.status = status;
  }
}

/** Whether the API server reported this error, with the given reason or HTTP status code. */
export function isApiStatus(error: unknown, wanted: string | number): error is ApiStatusError {
  if (!(error instanceof ApiStatusError)) return false;
  return typeof wanted === 'number' ? error.status.code === wanted : error.status.reason === wanted;
}

function codeOf(status: number): ErrorCode {
  return status === 410 ? 'out_of_range' : (codeOfHttpStatus(status, 'aborted') ?? 'unknown');
}
