import { isIPv6 } from 'node:net';
import { chainProblem, errorMessage } from '@podwright/base';

/** Go's messages for system errors on connections, which users expect to see in events. */
const WORDS: Record<string, string> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'connect: connection timed out',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
};

/** Formats a host and port for URLs and messages, with brackets around IPv6 addresses. */
export function hostAndPort(host: string, port: number): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** Describes a connection error the way upstream's events do. */
export function connectionProblem(error: unknown, { host, port }: { host: string; port: number }): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (WORDS[code] !== undefined) return `dial tcp ${hostAndPort(host, port)}: ${WORDS[code]}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: no such host`;
  if (code === 'ECONNRESET') return 'read: connection reset by peer';
  return chainProblem(error) ?? errorMessage(error);
}
