import { errorMessage, isErrno, PodwrightError } from '@podwright/base';

/** Error codes that indicate a lost connection. The server might or might not have processed the request. */
const LOST = new Set([
  'ECONNRESET',
  'EPIPE',
  'ERR_HTTP2_SESSION_ERROR',
  'ERR_HTTP2_STREAM_ERROR',
  'ERR_HTTP2_STREAM_CANCEL',
  'ERR_HTTP2_GOAWAY_SESSION',
  'ERR_HTTP2_INVALID_SESSION',
  'ERR_HTTP2_INVALID_STREAM',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_HTTP2_PING_CANCEL',
]);

const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

/** Certificate validity errors, which might be due to a wrong clock on this host. */
const BY_CLOCK: Record<string, string> = {
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  CERT_HAS_EXPIRED: 'its certificate has expired',
};

const NOT_TLS = new Set(['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

/** Wraps a network or TLS error in an `unavailable` error. Returns a PodwrightError unchanged. */
export function connectionError(error: unknown, origin: string): PodwrightError {
  if (error instanceof PodwrightError) return error;
  return new PodwrightError('unavailable', `${origin}: ${reasonOf(error)}`, { cause: error });
}

function reasonOf(error: unknown): string {
  const code = systemCode(error);
  if (UNTRUSTED.has(code))
    return 'its certificate is signed by an authority that is not trusted here; name the authority as certificate-authority in the kubeconfig';
  if (Object.hasOwn(BY_CLOCK, code))
    return `${BY_CLOCK[code]} by this host's clock (${new Date().toISOString()}), which may be wrong`;
  if (NOT_TLS.has(code)) return `the TLS handshake failed; does the server speak TLS? (${code})`;
  if (LOST.has(code)) return 'the connection was cut';
  return errorMessage(error);
}

/** Returns an error like Node.js's for a lost connection. */
export function lostConnection(origin: string): PodwrightError {
  const cause = Object.assign(new Error('the connection was cut'), { code: 'ECONNRESET' });
  return connectionError(cause, origin);
}

/** Whether the server refused the connection, because it is down or still starting. */
export function isConnectionRefused(error: unknown): boolean {
  return error instanceof Error && (isErrno(error, 'ECONNREFUSED') || isConnectionRefused(error.cause));
}

/** Whether an open connection was lost, including because the peer stopped responding. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof Error && (LOST.has(systemCode(error)) || isConnectionLost(error.cause));
}

function systemCode(error: unknown): string {
  return error instanceof Error ? String((error as NodeJS.ErrnoException).code ?? '') : '';
}
