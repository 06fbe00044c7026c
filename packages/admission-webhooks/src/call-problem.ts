import { certificateProblem, chainProblem, errorMessage } from '@podwright/base';

const CONNECT_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
};

/**
 * Describes why a request to a webhook failed, in the words of Go's net and crypto/tls packages, or of Node.js for errors that have no
 * equivalent in Go.
 */
export function callProblem(
  error: unknown,
  { host, port, serverName }: { host: string; port: number; serverName: string },
): string {
  const { code = '', hostname = '' } = first(error);
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${hostname}: no such host`;
  if (Object.hasOwn(CONNECT_ERRORS, code))
    return `dial tcp ${host.includes(':') ? `[${host}]` : host}:${port}: ${CONNECT_ERRORS[code]}`;
  const message = certificateProblem(first(error), serverName) ?? chainProblem(error) ?? errorMessage(error);
  if (/wrong version number|packet length too long|record layer/.test(message))
    return 'http: server gave HTTP response to HTTPS client';
  return code === 'ECONNRESET' ? 'EOF' : message;
}

type NodeError = { code?: string; hostname?: string };

/** Returns the first error of an AggregateError: Node.js collects one error per address it tried. */
const first = (error: unknown): NodeError =>
  error instanceof AggregateError && error.errors.length > 0 ? (error.errors[0] as NodeError) : (error as NodeError);
