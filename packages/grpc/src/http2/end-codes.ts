/** HTTP/2 error codes, sent when streams and connections are closed (RFC 9113, 7). */
import { errorCode, PodwrightError } from '@podwright/base';

/** The HTTP/2 error codes that this implementation checks or sends. */
export const END_CODE = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
  inadequateSecurity: 12,
} as const;

/** Builds the error for an HTTP/2 protocol violation by the peer. `endCode` is sent to the peer. */
export function broken(what: string, endCode: number = END_CODE.protocolError): PodwrightError {
  return Object.assign(new PodwrightError('invalid_argument', `HTTP/2: ${what}`), { endCode });
}

/** Builds the error for an HPACK violation by the peer. */
export function undecodable(what: string): PodwrightError {
  return Object.assign(new PodwrightError('invalid_argument', `hpack: ${what}`), {
    endCode: END_CODE.compressionError,
  });
}

/** Returns the HTTP/2 error code to send when a connection is closed because of this error. */
export function endCodeOf(error: unknown): number {
  if (errorCode(error) === 'resource_exhausted') return END_CODE.enhanceYourCalm;
  return (error as { endCode?: number }).endCode ?? END_CODE.internalError;
}
