import { status as Status } from '@grpc/grpc-js';
import type { ErrorCode } from '@podwright/base';

/** The error classes and their gRPC status numbers (https://grpc.io/docs/guides/status-codes/), the only such table. */
const statusOfCode: Readonly<Record<ErrorCode, Status>> = {
  cancelled: Status.CANCELLED,
  unknown: Status.UNKNOWN,
  invalid_argument: Status.INVALID_ARGUMENT,
  deadline_exceeded: Status.DEADLINE_EXCEEDED,
  not_found: Status.NOT_FOUND,
  already_exists: Status.ALREADY_EXISTS,
  permission_denied: Status.PERMISSION_DENIED,
  resource_exhausted: Status.RESOURCE_EXHAUSTED,
  failed_precondition: Status.FAILED_PRECONDITION,
  aborted: Status.ABORTED,
  out_of_range: Status.OUT_OF_RANGE,
  unimplemented: Status.UNIMPLEMENTED,
  internal: Status.INTERNAL,
  unavailable: Status.UNAVAILABLE,
  data_loss: Status.DATA_LOSS,
  unauthenticated: Status.UNAUTHENTICATED,
};

const codeOfStatus: ReadonlyMap<Status, ErrorCode> = new Map(
  (Object.entries(statusOfCode) as [ErrorCode, Status][]).map(([code, status]) => [status, code]),
);

/** The gRPC status number of an error class. */
export function statusFromErrorCode(code: ErrorCode): Status {
  return statusOfCode[code];
}

/** The error class of a gRPC status number; numbers that no version of gRPC defines are `unknown`. */
export function errorCodeFromStatus(status: number): ErrorCode {
  return codeOfStatus.get(status) ?? 'unknown';
}
