/** Why streams and connections end (RFC 9113, 7). */
import { errorCode, PodwrightError } from '@podwright/base';

/** The codes that somebody looks for or sends. */
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

/** What a peer has sent that HTTP/2 does not allow; the code is for the peer. */
export function broken(what: string, endCode: number = END_CODE.protocolError): PodwrightError {
  return Object.assign(new PodwrightError('invalid_argument', `HTTP/2: ${what}`), { endCode });
}

/** What a peer has sent of headers that HPACK does not allow. */
export function undecodable(what: string): PodwrightError {
  return Object.assign(new PodwrightError('invalid_argument', `hpack: ${what}`), {
    endCode: END_CODE.compressionError,
  });
}

/** What a peer is told of the error that ends its connection. */
export function endCodeOf(error: unknown): number {
  if (errorCode(error) === 'resource_exhausted') return END_CODE.enhanceYourCalm;
  return (error as { endCode?: number }).endCode ?? END_CODE.internalError;
}
