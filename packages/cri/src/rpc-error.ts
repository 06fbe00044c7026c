import { errorCode, errorMessage, PodwrightError, statusNumber } from '@podwright/base';

/** Names of gRPC's status numbers, as Go's clients write them. */
const CODES =
  'OK Canceled Unknown InvalidArgument DeadlineExceeded NotFound AlreadyExists PermissionDenied ResourceExhausted FailedPrecondition Aborted OutOfRange Unimplemented Internal Unavailable DataLoss Unauthenticated'.split(
    ' ',
  );

/** The name of a status number; those that no version of gRPC defines are `Unknown`. */
export function codeName(status: number): string {
  return CODES[status] ?? 'Unknown';
}

/** What a call of the runtime failed with, in the words of Go's gRPC, which upstream's kubelet and its clients show. */
export function rpcErrorText(error: unknown): string {
  return `rpc error: code = ${codeName(statusNumber(errorCode(error)))} desc = ${errorMessage(error)}`;
}

/** An error of the runtime with these words; others stay as they are. */
export function asRpcError(error: unknown): unknown {
  return error instanceof PodwrightError
    ? new PodwrightError(error.code, rpcErrorText(error), { cause: error })
    : error;
}

/** The answer to a call of the runtime; what it fails with has these words. */
export async function asTold<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw asRpcError(error);
  }
}
