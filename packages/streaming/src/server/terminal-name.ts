import type { IncomingMessage } from 'node:http';

/** The header in which Podwright's clients send their TERM, for which the CRI has no field. */
export const TERMINAL_HEADER = 'podwright-terminal';

/** Names of terminals (terminfo) are file names. No other value is passed to an environment. */
const NAME = /^[A-Za-z0-9][\w.+-]{0,63}$/;

/** The TERM value that a client requests, if it is valid. */
export function terminalName({ headers }: IncomingMessage): string | undefined {
  const value = headers[TERMINAL_HEADER];
  return typeof value === 'string' && NAME.test(value) ? value : undefined;
}
