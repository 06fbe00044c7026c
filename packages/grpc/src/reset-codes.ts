import type { ErrorCode } from '@podwright/base';
import { END_CODE } from './http2/end-codes.ts';

/** Error codes of calls whose stream was reset, by HTTP/2 error code ("Errors" in gRPC's PROTOCOL-HTTP2.md). */
const RESET_CODES: Record<number, ErrorCode> = {
  [END_CODE.refusedStream]: 'unavailable',
  [END_CODE.cancel]: 'cancelled',
  [END_CODE.enhanceYourCalm]: 'resource_exhausted',
  [END_CODE.inadequateSecurity]: 'permission_denied',
};

/** Returns the error code of a call whose stream was reset with this HTTP/2 error code. */
export const errorCodeOfReset = (endCode: number): ErrorCode => RESET_CODES[endCode] ?? 'internal';
