import { PodwrightError, statusNumber } from '@podwright/base';

/** Names of gRPC's status numbers, as Go's clients write them. */
const CODES =
  'OK Canceled Unknown InvalidArgument DeadlineExceeded NotFound AlreadyExists PermissionDenied ResourceExhausted FailedPrecondition Aborted OutOfRange Unimplemented Internal Unavailable DataLoss Unauthenticated'.split(
    ' ',
  );

/** The name of a status number; those that no version of gRPC defines are `Unknown`. */
export function codeName(status: number): string {
  return CODES[status] ?? 'Unknown';
}

/** What a call failed with, in the words in which upstream's kubelet shows it. */
export function asRpcError(error: unknown): unknown {
  if (!(error instanceof PodwrightError)) return error;
  const message = `rpc error: code = ${codeName(statusNumber(error.code))} desc = ${error.message}`;
  return new PodwrightError(error.code, message, { cause: error });
}
