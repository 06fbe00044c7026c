import { errorCode, errorMessage, PodwrightError, statusNumber } from '@podwright/base';

/** Names of gRPC's status codes, as Go's clients print them. */
const CODES =
  'OK Canceled Unknown InvalidArgument DeadlineExceeded NotFound AlreadyExists PermissionDenied ResourceExhausted FailedPrecondition Aborted OutOfRange Unimplemented Internal Unavailable DataLoss Unauthenticated'.split(
    ' ',
  );

/** The name of a status code; `Unknown` for codes that gRPC does not define. */
export function codeName(status: number): string {
  return CODES[status] ?? 'Unknown';
}

/** Formats an error of the runtime as Go's gRPC does, which is the text that upstream's kubelet and its clients show. */
export function rpcErrorText(error: unknown): string {
  return `rpc error: code = ${codeName(statusNumber(errorCode(error)))} desc = ${errorMessage(error)}`;
}

/** Gives the error of a call the text of Go's gRPC. Other errors are returned unchanged. */
export function asRpcError(error: unknown): unknown {
  return error instanceof PodwrightError
    ? new PodwrightError(error.code, rpcErrorText(error), { cause: error })
    : error;
}

/** Awaits a call to the runtime, and gives its error the text of Go's gRPC. */
export async function withRpcErrors<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw asRpcError(error);
  }
}
