const UNKNOWN_AUTHORITY = 'certificate signed by unknown authority';
const PROBLEMS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  CERT_SIGNATURE_FAILURE: UNKNOWN_AUTHORITY,
  CERT_HAS_EXPIRED: 'certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'certificate has expired or is not yet valid',
};

/**
 * Describes why a server's certificate was rejected, in the words of Go's crypto/tls package; `undefined` for other errors. `serverName`:
 * the name that the certificate must be valid for.
 */
export function certificateProblem(error: unknown, serverName: string): string | undefined {
  const { code = '' } = error as { code?: string };
  const isOfOther = code === 'ERR_TLS_CERT_ALTNAME_INVALID';
  const problem = Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code] : undefined;
  const why = isOfOther ? `certificate is not valid for ${serverName}` : problem;
  return why === undefined ? undefined : `tls: failed to verify certificate: x509: ${why}`;
}
