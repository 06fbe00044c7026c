import type { IncomingMessage } from 'node:http';

/** The header by which our own clients tell what their terminal is; the CRI has no field for it. */
export const TERMINAL_HEADER = 'podwright-terminal';

/** Names of terminals (terminfo) are file names; nothing else gets into an environment. */
const NAME = /^[A-Za-z0-9][\w.+-]{0,63}$/;

/** The TERM that a client asks for, if it is one. */
export function terminalName({ headers }: IncomingMessage): string | undefined {
  const value = headers[TERMINAL_HEADER];
  return typeof value === 'string' && NAME.test(value) ? value : undefined;
}
