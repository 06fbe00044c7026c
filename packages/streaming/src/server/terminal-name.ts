import type { IncomingMessage } from 'node:http';

/** Header in which Podwright's clients send their TERM, because the CRI has no field for it. */
export const TERMINAL_HEADER = 'podwright-terminal';

/** Matches a terminal name, which is a file name in terminfo. Other values are not passed to the environment. */
const NAME = /^[A-Za-z0-9][\w.+-]{0,63}$/;

/** Returns the TERM value that a client requests, if it is valid. */
export function terminalName({ headers }: IncomingMessage): string | undefined {
  const value = headers[TERMINAL_HEADER];
  return typeof value === 'string' && NAME.test(value) ? value : undefined;
}
