import { getSystemErrorMap } from 'node:util';

/** An error of Node.js about the system, such as `ENOENT: no such file or directory, open '/x'`. */
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

/** What says more to people than libuv's own words. */
const WORDS: Record<string, string> = {
  EISDIR: 'it is a directory',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name could not be looked up',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the other side has closed it',
};

/** Whether `error` is one of the system, with a name such as `ENOENT`. */
export function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && /^E(?!RR_)[A-Z0-9_]+$/.test(String((error as NodeJS.ErrnoException).code));
}

/**
 * What a system error means, without its name: `open /x: no such file or directory`. What `context` names already is not named again.
 * An error that was made by somebody else keeps its own message.
 */
export function systemErrorMessage(error: SystemError, context = ''): string {
  const { code, errno, message } = error;
  const words = WORDS[code] ?? (errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1]);
  if (words === undefined || !message.includes(code)) return message;
  const { verb, object } = attempt(error);
  return object === undefined || context.includes(object) ? words : `${verb} ${object}: ${words}`;
}

/** What was tried, and on what. */
function attempt({ syscall = '', path, dest, address, port, hostname }: SystemError): {
  verb: string;
  object: string | undefined;
} {
  const [name = ''] = syscall.split(' ');
  const verb = { getaddrinfo: 'look up', connect: 'connect to', listen: 'listen on', bind: 'bind', spawn: 'start' }[
    name
  ];
  const place = address === undefined || port === undefined || port < 0 ? address : `${address}:${port}`;
  return { verb: verb ?? name, object: dest ?? path ?? hostname ?? place };
}
