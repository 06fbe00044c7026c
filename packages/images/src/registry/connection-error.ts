import { errorMessage, PodwrightError } from '@podwright/base';

const MESSAGES: Record<string, string> = {
  ECONNREFUSED: 'connection refused; is the registry running?',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name could not be looked up',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ETIMEDOUT: 'timed out',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
};

const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

/** Turns a failure below HTTP into an `unavailable` error with a message for users. A `PodwrightError` is returned unchanged. */
export function connectionError(error: unknown, url: string): PodwrightError {
  if (error instanceof PodwrightError) return error;
  const code = systemCode(error);
  const where = new URL(url).origin;
  if (UNTRUSTED.has(code)) {
    return new PodwrightError(
      'unavailable',
      `connect to ${where}: its certificate is signed by an authority that is not trusted here; name the authority's file as "ca" in the registry's hosts.toml`,
      { cause: error },
    );
  }
  if (isTlsMismatch(error)) {
    return new PodwrightError('unavailable', `connect to ${where}: it does not speak TLS; is it an http registry?`, {
      cause: error,
    });
  }
  return new PodwrightError('unavailable', `connect to ${where}: ${MESSAGES[code] ?? errorMessage(error)}`, {
    cause: error,
  });
}

/** A URL without its query, for error messages: redirects may have signatures in their queries, which are credentials. */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`.slice(0, 500);
}

/** True if a TLS handshake failed because the server does not speak TLS. */
export function isTlsMismatch(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG';
}

/** True for failures after which a retry may succeed: an interrupted or stalled connection, not a refused one. */
export function isCut(error: unknown): boolean {
  if (!(error instanceof PodwrightError)) return false;
  if (error.code === 'deadline_exceeded') return true;
  return error.code === 'unavailable' && ['ECONNRESET', 'EPIPE', 'ETIMEDOUT'].includes(systemCode(error.cause));
}

function systemCode(error: unknown): string {
  return error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? '') : '';
}
