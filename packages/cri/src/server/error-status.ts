import { errorCode, errorMessage, statusNumber } from '@podwright/base';

/** The status message travels in a header: what is longer is cut, in characters. */
const MAX_DETAILS = 4096;

/** What a client is told about a failed call. */
export function errorStatus(error: unknown): { code: number; details: string } {
  const message = errorMessage(error).toWellFormed(); // grpc-js throws on a lone surrogate
  const details = message.length > MAX_DETAILS ? `${message.slice(0, MAX_DETAILS).toWellFormed()}…` : message;
  return { code: statusNumber(errorCode(error)), details };
}
