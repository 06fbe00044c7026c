import { existsSync } from 'node:fs';
import { PodwrightError } from '@podwright/base';
import { InvalidArgumentError, Option } from 'commander';
import { parseOutputFormat, parseWideFormat } from '../output/format.ts';
import { parseObjectFormat } from '../output/object-format.ts';

const UNIT_MS: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** The longest duration of Go, 2^63 - 1 ns, in ms: some 292 years. */
const LONGEST_MS = Number((2n ** 63n - 1n) / 1_000_000n);

/** Reads a duration such as `30s`, `5m`, `1h30m` as Go reads it, or seconds, as milliseconds. */
export function positiveSeconds(value: string): number {
  const ms = durationMs(value);
  if (ms > LONGEST_MS) throw new InvalidArgumentError('it must be at most 2562047h47m16s');
  return ms;
}

function durationMs(value: string): number {
  if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value) * 1000;
  if (!/^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(value))
    throw new InvalidArgumentError('a duration such as 30s, 5m or 1h30m is needed');
  const terms = [...value.matchAll(/([\d.]+)(\D+)/g)];
  return terms.reduce((sum, [, number, unit]) => sum + Number(number) * UNIT_MS[unit!]!, 0);
}

/** Reads the time after which a command gives up. */
export function timeout(value: string): number {
  const ms = positiveSeconds(value);
  if (ms === 0) throw new InvalidArgumentError('it must be longer than that; without it there is no limit');
  return ms;
}

/** Reads a whole number; larger ones than 2^53 - 1 would be rounded. */
export function count(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('a whole number is needed');
  if (Number(value) > Number.MAX_SAFE_INTEGER)
    throw new InvalidArgumentError(`it must be at most ${Number.MAX_SAFE_INTEGER}`);
  return Number(value);
}

export const outputOption = () =>
  new Option('-o, --output <format>', 'json, yaml or kyaml').argParser(parseOutputFormat).default('text', 'for people');
export const wideOutputOption = () =>
  new Option('-o, --output <format>', 'wide, json, yaml or kyaml')
    .argParser(parseWideFormat)
    .default('text', 'a table');
export const namespaceOption = () => new Option('-n, --namespace <name>', 'namespace of the pod').default('default');
export const objectOutputOption = () =>
  new Option('-o, --output <format>', 'wide, json, yaml, kyaml, name, jsonpath=TEMPLATE or custom-columns=TITLE:PATH,…')
    .argParser(parseObjectFormat)
    .default({ type: 'table' }, 'a table');
export const allNamespacesOption = () => new Option('-A, --all-namespaces', 'those of all namespaces');
export const selectorOption = () =>
  new Option('-l, --selector <selector>', 'only those with these labels: a=b, a!=b, a in (b,c), a, !a');

/** Reads variables as kubectl does: `A=1`, or several with commas between them. */
export function environmentVariables(value: string, before: { name: string; value: string }[]) {
  const added = value.split(/,(?=[A-Za-z_][\w.-]*=)/).map((text) => {
    const [, name, content] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === undefined) throw new InvalidArgumentError('a variable such as NAME=value is needed');
    return { name, value: content! };
  });
  return [...before, ...added];
}

/** Takes a time as RFC 3339 has it. */
export function pointInTime(value: string): string {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.test(value);
  if (isTime && !Number.isNaN(Date.parse(value))) return value;
  throw new InvalidArgumentError('a time such as 2026-11-05T12:00:00Z is needed');
}

/** Reads kubectl's `--grace-period`, which may be negative. */
export function graceSeconds(value: string): number {
  return value.startsWith('-') ? -count(value.slice(1)) : count(value);
}

/** Reads kubectl's `--timeout` of `wait` as milliseconds; a negative one stays so. */
export function signedSeconds(value: string): number {
  return value.startsWith('-') ? -positiveSeconds(value.slice(1)) : positiveSeconds(value);
}

/** Reads a list of types of events: `Normal,Warning`. */
export function eventTypes(value: string, before: ('Normal' | 'Warning')[] = []): ('Normal' | 'Warning')[] {
  const added = value.split(',').map((type) => {
    const known = (['Normal', 'Warning'] as const).find((one) => one.toLowerCase() === type.trim().toLowerCase());
    if (known === undefined) throw new InvalidArgumentError(`"${type}" is neither Normal nor Warning`);
    return known;
  });
  return [...before, ...added];
}

/** May be given several times: reads what is separated by commas as one list. */
export const joined = (value: string, before?: string): string => (before === undefined ? value : `${before},${value}`);

/** May be given several times. */
export const gathered = (value: string, before: string[] = []): string[] => [...before, value];

/** kubectl's `-f`: may be given several times, and has several names with commas between them. */
export const fileOption = () =>
  new Option(
    '-f, --filename <file>',
    'a manifest, a directory of them, an http(s) URL, or - for standard input',
  ).argParser((value: string, before: string[] | undefined) => [...(before ?? []), ...value.split(',')]);
export const manifestNamespaceOption = () =>
  new Option('-n, --namespace <name>', 'namespace of objects that name none; those of another are refused');
export const recursiveOption = () => new Option('-R, --recursive', 'with directories, also those below them');
export const strictOption = () =>
  new Option('--strict', 'refuse what would be left out (Service, Role and the like), and fields that are there twice');

const DRY_RUN_MODES = ['client', 'server', 'none'];

/** kubectl's `--dry-run[=server]`; `client` asks the node as well, which is as near. */
export const dryRunOption = (what: string) => new Option('--dry-run [mode]', what);

/** The word after `--dry-run` is a manifest unless it is a mode; `invalid_argument` for what is neither. */
export function withDryRun<T extends { dryRun?: string | boolean }>(
  files: string[],
  options: T,
): { files: string[]; options: Omit<T, 'dryRun'> & { dryRun: boolean } } {
  const { dryRun = false } = options;
  const isFile = typeof dryRun === 'string' && !DRY_RUN_MODES.includes(dryRun);
  if (isFile && /^\w+$/.test(dryRun) && !existsSync(dryRun)) {
    const message = `--dry-run ${dryRun}: is none of ${DRY_RUN_MODES.join(', ')}, nor a manifest that is there`;
    throw new PodwrightError('invalid_argument', message);
  }
  return {
    files: isFile ? [dryRun, ...files] : files,
    options: { ...options, dryRun: dryRun !== false && dryRun !== 'none' },
  };
}
