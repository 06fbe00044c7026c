import { getSystemErrorMap } from 'node:util';

/** A Node.js system error, such as `ENOENT: no such file or directory, open '/x'`. */
export type SystemError = Error & {
  code: string;
  errno?: number;
  syscall?: string;
  path?: string;
  dest?: string;
  address?: string;
  port?: number;
  hostname?: string;
};

/** Error texts that are clearer than libuv's own, by error code. */
const WORDS: Record<string, string> = {
  EISDIR: 'it is a directory',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name could not be looked up',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the other side has closed it',
};

/** Whether `error` is a system error, with a code such as `ENOENT`. */
export function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && /^E(?!RR_)[A-Z0-9_]+$/.test(String((error as NodeJS.ErrnoException).code));
}

/**
 * Formats a system error without its code: `open /x: no such file or directory`. Omits the object if `context` already names it. Messages
 * other than Node.js's own are left unchanged.
 */
export function systemErrorMessage(error: SystemError, context = ''): string {
  const { code, errno, message } = error;
  const words = WORDS[code] ?? (errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1]);
  if (words === undefined || !message.includes(code)) return message;
  const { verb, object } = attempt(error);
  return object === undefined || context.includes(object) ? words : `${verb} ${object}: ${words}`;
}

/** Returns which operation of a system error failed and on what: a path, host or address. */
function attempt({ syscall = '', path, dest, address, port, hostname }: SystemError): {
  verb: string;
  object: string | undefined;
} {
  const [name = ''] = syscall.split(' ');
  const verb = { getaddrinfo: 'look up', connect: 'connect to', listen: 'listen on', bind: 'bind', spawn: 'start' }[
    name
  ];
  const endpoint = address === undefined || port === undefined || port < 0 ? address : `${address}:${port}`;
  return { verb: verb ?? name, object: dest ?? path ?? hostname ?? endpoint };
}
