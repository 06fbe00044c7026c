import { errorCode, errorCodeOfStatus, errorMessage, PodwrightError, statusNumber } from '@podwright/base';
import { MAX_ERROR_CHARACTERS } from './limits.ts';

/** Returns the gRPC status to send for an error. */
export function statusOfError(error: unknown): { code: number; message: string } {
  return { code: statusNumber(errorCode(error)), message: errorMessage(error).slice(0, MAX_ERROR_CHARACTERS) };
}

/** Returns the error for a received gRPC status. Codes that gRPC does not define become `unknown`. Long messages are truncated. */
export function errorOfStatus(what: string, { code, message }: { code: number; message: string }): PodwrightError {
  return new PodwrightError(errorCodeOfStatus(code), `${what}: ${message.slice(0, MAX_ERROR_CHARACTERS)}`);
}
