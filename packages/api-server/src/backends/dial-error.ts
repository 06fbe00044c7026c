import { certificateProblem, chainProblem, errorMessage } from '@podwright/base';

const CONNECT_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
  ETIMEDOUT: 'i/o timeout',
};

/**
 * Describes why connecting to `authority` failed, in the words of Go's net and crypto/tls packages, as clients of upstream's API server see
 * them.
 */
export function dialError(error: unknown, authority: string): string {
  const { code = '', hostname = '', host = '' } = error as { code?: string; hostname?: string; host?: string };
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${hostname}: no such host`;
  if (Object.hasOwn(CONNECT_ERRORS, code)) return `dial tcp ${authority}: ${CONNECT_ERRORS[code]}`;
  return (
    certificateProblem(error, host) ?? chainProblem(error) ?? (code === 'ECONNRESET' ? 'EOF' : errorMessage(error))
  );
}
