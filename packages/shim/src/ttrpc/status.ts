import { errorCode, errorCodeOfStatus, errorMessage, PodwrightError, statusNumber } from '@podwright/base';

/** The most of an error's words that is sent. */
const maxMessageLength = 4096;

/** What is sent of an error. */
export function statusOfError(error: unknown): { code: number; message: string } {
  return { code: statusNumber(errorCode(error)), message: errorMessage(error).slice(0, maxMessageLength) };
}

/** The error that the other side sent; numbers that gRPC has not are `unknown`. */
export function errorOfStatus(what: string, { code, message }: { code: number; message: string }): PodwrightError {
  return new PodwrightError(errorCodeOfStatus(code), `${what}: ${message}`);
}
