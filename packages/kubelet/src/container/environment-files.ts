import { PodwrightError } from '@podwright/base';
import type { Container, FileKeySelector } from '@podwright/kube-api';
import { readInside } from '@podwright/volumes';

const MAX_ENVIRONMENT_FILE_BYTES = 1 << 20;

/** Contents of files that environment variables are read from, keyed by volume and path. Missing files are absent. */
export type EnvironmentFiles = ReadonlyMap<string, string>;

/**
 * Reads the files that the container's environment variables refer to. The files were written by containers, so symlinks are followed only
 * inside the volume. Rejects with `failed_precondition` if a path leads out of the volume or a file is not a regular file of at most 1 MiB.
 */
export async function readEnvironmentFiles(
  container: Container,
  volumePath: (volume: string) => Promise<string>,
): Promise<EnvironmentFiles> {
  const files = new Map<string, string>();
  for (const { valueFrom } of container.env ?? []) {
    const ref = valueFrom?.fileKeyRef;
    if (ref === undefined || files.has(fileKey(ref))) continue;
    const bytes = await readInside(await volumePath(ref.volumeName), ref.path, MAX_ENVIRONMENT_FILE_BYTES);
    if (bytes !== undefined) files.set(fileKey(ref), bytes.toString('utf8'));
  }
  return files;
}

/**
 * Returns the value of a variable in an environment file, or '' if the variable or the file is missing. Throws `failed_precondition` on a
 * syntax error before the variable.
 */
export function environmentFileValue(files: EnvironmentFiles, ref: FileKeySelector): string {
  return parseEnvironmentFile(files.get(fileKey(ref)) ?? '', ref.key);
}

function fileKey({ volumeName, path }: FileKeySelector): string {
  return `${volumeName}/${path}`;
}

/**
 * Looks up a variable in lines of the form `NAME='value'`, the subset of shell syntax that Kubernetes accepts. Values are single-quoted and
 * literal, and may span lines; `#` starts a comment. Whitespace after `=` means an empty value.
 */
export function parseEnvironmentFile(text: string, key: string): string {
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!.replace(/^[ \t]+/, '');
    if (line === '' || line.startsWith('#')) continue;
    const { name, rest } = splitAssignment(line, at + 1);
    if (/^[ \t]/.test(rest)) {
      if (name === key) return '';
      continue;
    }
    if (!rest.startsWith("'")) throw wrong(at + 1, 'value must be enclosed in single quotes');
    const { value, last } = quotedValue(lines, { at, rest: rest.slice(1) });
    if (name === key) return value;
    at = last;
  }
  return '';
}

function splitAssignment(line: string, number: number): { name: string; rest: string } {
  const equals = line.indexOf('=');
  if (equals < 0) throw wrong(number, "missing '='");
  const name = line.slice(0, equals);
  if (name.trim() === '') throw wrong(number, 'empty variable name');
  if (/[ \t]$/.test(name)) throw wrong(number, "whitespace before '=' is not allowed");
  return { name, rest: line.slice(equals + 1) };
}

/** Returns the value of an environment file variable up to the closing quote, and the index of the line that contains that quote. */
function quotedValue(lines: string[], begin: { at: number; rest: string }): { value: string; last: number } {
  const parts: string[] = [];
  for (let at = begin.at; at < lines.length; at++) {
    const line = at === begin.at ? begin.rest : lines[at]!;
    const quote = line.indexOf("'");
    parts.push(quote < 0 ? line : line.slice(0, quote));
    if (quote < 0) continue;
    const after = line.slice(quote + 1).trimStart();
    if (after !== '' && !after.startsWith('#')) throw wrong(at + 1, 'unexpected content after closing quote');
    return { value: parts.join('\n'), last: at };
  }
  throw wrong(begin.at + 1, 'unclosed single quote');
}

function wrong(line: number, problem: string): PodwrightError {
  return new PodwrightError(
    'failed_precondition',
    `couldn't parse env file: invalid environment variable format at line ${line}: ${problem}`,
  );
}
