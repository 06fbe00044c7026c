import { chainProblem, errorMessage, PodwrightError } from '@podwright/base';

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

/** Converts a transport-level failure to an `unavailable` error with a user-facing message. Returns a `PodwrightError` unchanged. */
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
  return new PodwrightError(
    'unavailable',
    `connect to ${where}: ${chainProblem(error) ?? MESSAGES[code] ?? errorMessage(error)}`,
    {
      cause: error,
    },
  );
}

/** Returns a URL without its query, for error messages: the query of a redirect might contain a signature, which is a credential. */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`.slice(0, 500);
}

/** Whether a TLS handshake failed because the server does not speak TLS. */
export function isTlsMismatch(error: unknown): boolean {
  if (chainProblem(error) !== undefined) return false;
  const code = systemCode(error);
  return code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG';
}

/** Whether a retry might succeed after this failure: true for an interrupted or stalled connection, false for a refused one. */
export function isCut(error: unknown): boolean {
  if (!(error instanceof PodwrightError)) return false;
  if (error.code === 'deadline_exceeded') return true;
  return error.code === 'unavailable' && ['ECONNRESET', 'EPIPE', 'ETIMEDOUT'].includes(systemCode(error.cause));
}

function systemCode(error: unknown): string {
  return error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? '') : '';
}
