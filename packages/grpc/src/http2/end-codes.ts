/** Error codes of streams and connections (RFC 9113, 7). */
import { errorCode, PodwrightError } from '@podwright/base';

/** The codes that this implementation checks or sends. */
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

/** A violation of HTTP/2 by the peer. `endCode` is sent to the peer. */
export function broken(what: string, endCode: number = END_CODE.protocolError): PodwrightError {
  return Object.assign(new PodwrightError('invalid_argument', `HTTP/2: ${what}`), { endCode });
}

/** A violation of HPACK by the peer. */
export function undecodable(what: string): PodwrightError {
  return Object.assign(new PodwrightError('invalid_argument', `hpack: ${what}`), {
    endCode: END_CODE.compressionError,
  });
}

/** The error code that a peer receives for the error that ends its connection. */
export function endCodeOf(error: unknown): number {
  if (errorCode(error) === 'resource_exhausted') return END_CODE.enhanceYourCalm;
  return (error as { endCode?: number }).endCode ?? END_CODE.internalError;
}
