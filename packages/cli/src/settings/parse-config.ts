import { errorMessage, PodwrightError } from '@podwright/base';
import { parse, TomlError } from 'smol-toml';
import { applyFlags, type ConfigFlags, flagOf } from './config-flags.ts';
import { type ConfigProblem, configProblems } from './config-problems.ts';
import { type ContainerRuntime, dockerProblems, takeContainerRuntime } from './container-runtime.ts';
import { FileSchema, type FileSettings } from './file-schema.ts';
import { lineOfKey } from './key-line.ts';
import { referenceProblems } from './runtime-references.ts';

const MAX_PROBLEMS = 10;
const MAX_VALUE_LENGTH = 60;
/** Values of these keys may contain tokens and must not appear in errors or logs. */
const SECRET_KEYS: readonly PropertyKey[] = ['static_pod_url', 'static_pod_url_header'];

/**
 * Parses the text of a configuration file and applies the flags. `file` is the name used in errors. Throws `invalid_argument` naming the
 * line, key and value of each problem, and what would be valid.
 */
export function parseConfig(
  text: string,
  file: string,
  flags: ConfigFlags = {},
): FileSettings & { container_runtime: ContainerRuntime } {
  const { content, containerRuntime } = takeContainerRuntime(parseToml(text, file));
  const merged = applyFlags(content, flags);
  const parsed = FileSchema.safeParse(merged, { reportInput: true });
  const problems = [
    ...(containerRuntime === 'docker' ? dockerProblems(content, flags) : []),
    ...(parsed.success ? referenceProblems(parsed.data.runtime) : configProblems(FileSchema, parsed.error.issues)),
  ];
  if (parsed.success && problems.length === 0) return { ...parsed.data, container_runtime: containerRuntime };
  const lines = problems.slice(0, MAX_PROBLEMS).map((problem) => {
    const line = lineOfKey(text, problem.path);
    const place = flagOf(problem.path, flags) ?? (line === undefined ? file : `${file}:${line}`);
    return `${place}: ${nameAndValue(problem, merged)}: ${problem.message}`;
  });
  throw new PodwrightError('invalid_argument', `read ${lines.join('\n')}`);
}

/** Returns `key = value` for an error message, or only the key if its value is missing, secret or a table. */
function nameAndValue({ path }: ConfigProblem, content: unknown): string {
  const name = path.map((key) => quoteKey(String(key))).join('.') || 'the file';
  const value = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], content);
  if (path.some((key) => SECRET_KEYS.includes(key))) return name;
  if (value === undefined || (typeof value === 'object' && !Array.isArray(value))) return name;
  return `${name} = ${shorten(JSON.stringify(value))}`;
}

const quoteKey = (key: string) => (/^[\w-]{1,64}$/.test(key) ? key : shorten(JSON.stringify(key)));

const shorten = (text: string) => (text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text);

function parseToml(text: string, file: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    const where = error instanceof TomlError ? `${file}:${error.line}:${error.column}` : file;
    throw new PodwrightError('invalid_argument', `read ${where}: ${errorMessage(error).split('\n')[0]}`, {
      cause: error,
    });
  }
}
