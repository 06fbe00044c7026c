import { chainProblem, errorMessage } from '@podwright/base';

const CONNECT_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
};

const UNKNOWN_AUTHORITY = 'certificate signed by unknown authority';
const CERTIFICATE_ERRORS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  CERT_SIGNATURE_FAILURE: UNKNOWN_AUTHORITY,
  CERT_HAS_EXPIRED: 'certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'certificate has expired or is not yet valid',
};

/** Describes why a request to a webhook failed: as Go's packages net and crypto/tls, or as Node.js for errors that Go does not have. */
export function callProblem(
  error: unknown,
  { host, port, serverName }: { host: string; port: number; serverName: string },
): string {
  const { code = '', hostname = '' } = first(error);
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${hostname}: no such host`;
  if (Object.hasOwn(CONNECT_ERRORS, code))
    return `dial tcp ${host.includes(':') ? `[${host}]` : host}:${port}: ${CONNECT_ERRORS[code]}`;
  if (Object.hasOwn(CERTIFICATE_ERRORS, code)) return unverified(CERTIFICATE_ERRORS[code]!);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return unverified(`certificate is not valid for ${serverName}`);
  const message = chainProblem(error) ?? errorMessage(error);
  if (/wrong version number|packet length too long|record layer/.test(message))
    return 'http: server gave HTTP response to HTTPS client';
  return code === 'ECONNRESET' ? 'EOF' : message;
}

const unverified = (why: string): string => `tls: failed to verify certificate: x509: ${why}`;

type NodeError = { code?: string; hostname?: string };

/** Returns the first error of an AggregateError: Node.js has one error for each address that it tried. */
const first = (error: unknown): NodeError =>
  error instanceof AggregateError && error.errors.length > 0 ? (error.errors[0] as NodeError) : (error as NodeError);
