import { errorCode, errorMessage, PodwrightError, statusNumber } from '@podwright/base';

/** Names of the gRPC status codes, as printed by Go's gRPC clients. */
const CODES =
  'OK Canceled Unknown InvalidArgument DeadlineExceeded NotFound AlreadyExists PermissionDenied ResourceExhausted FailedPrecondition Aborted OutOfRange Unimplemented Internal Unavailable DataLoss Unauthenticated'.split(
    ' ',
  );

/** Returns the name of a status code, or `Unknown` for a code that gRPC does not define. */
export function codeName(status: number): string {
  return CODES[status] ?? 'Unknown';
}

/** Formats an error from the container runtime as Go's gRPC does, which is the text shown by upstream's kubelet and its clients. */
export function rpcErrorText(error: unknown): string {
  return `rpc error: code = ${codeName(statusNumber(errorCode(error)))} desc = ${errorMessage(error)}`;
}

/** Replaces the text of a call's error with the text that Go's gRPC would give it. Other errors are returned unchanged. */
export function asRpcError(error: unknown): unknown {
  return error instanceof PodwrightError
    ? new PodwrightError(error.code, rpcErrorText(error), { cause: error })
    : error;
}

/** Awaits a call to the container runtime. If the call fails, replaces the text of its error with the text that Go's gRPC would give it. */
export async function withRpcErrors<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw asRpcError(error);
  }
}
