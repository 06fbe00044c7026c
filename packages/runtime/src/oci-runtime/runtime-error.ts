import { type ErrorCode, PodwrightError } from '@podwright/base';

/**
 * Extracts the last error message from an OCI runtime's stderr. runc logs lines such as `time="…" level=error msg="…"`; crun writes plain
 * lines, colored on a terminal.
 */
export function runtimeMessage(output: string): string {
  const lines = output
    .replaceAll(/\x1b\[[0-9;]*m/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const logged = lines.filter((line) => / level=(error|fatal) /.test(line));
  const line = logged.at(-1) ?? lines.at(-1) ?? '';
  const quoted = / msg=("(?:[^"\\]|\\.)*")/.exec(line)?.[1];
  if (quoted !== undefined) return unquote(quoted);
  return line.replace(/^\d{4}-\d\d-\d\dT\S+: /, '');
}

/** Derives the error code from an OCI runtime's error message, because runc and crun have no distinct exit codes. */
export function runtimeErrorCode(message: string): ErrorCode {
  const found = classes.find(([pattern]) => pattern.test(message));
  return found?.[1] ?? 'internal';
}

/** Builds an error from the OCI runtime's own message and the matching error code. */
export function runtimeError(what: string, output: string): PodwrightError {
  const message = runtimeMessage(output);
  const reason = message === '' ? 'the OCI runtime failed without an error message' : message;
  return new PodwrightError(runtimeErrorCode(message), `${what}: ${reason}`);
}

const classes: [RegExp, ErrorCode][] = [
  [/executable file (\S+ )?not found/, 'not_found'],
  [/exec: ".*": stat .*: no such file or directory/, 'not_found'],
  [/(open executable|exec .*): No such file or directory/, 'not_found'],
  [/exec: ".*": (.*: )?(permission denied|is a directory)/, 'permission_denied'],
  [/open executable: (Operation not permitted|Permission denied)/, 'permission_denied'],
  [/container (\S+ )?does not exist|error opening file .*status/, 'not_found'],
  [/already exists/, 'already_exists'],
  [/no space left on device/i, 'resource_exhausted'],
  [/^unknown command /, 'unimplemented'],
  [/stopped container|container (is )?not running|not running|process already finished/, 'failed_precondition'],
];

function unquote(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted.slice(1, -1);
  }
}
