import { existsSync } from 'node:fs';
import { PodwrightError } from '@podwright/base';
import { InvalidArgumentError, Option } from 'commander';
import { parseOutputFormat, parseWideFormat } from '../output/format.ts';
import { parseObjectFormat } from '../output/object-format.ts';

const UNIT_MS: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** The maximum Go duration, 2^63 - 1 ns, in ms: about 292 years. */
const LONGEST_MS = Number((2n ** 63n - 1n) / 1_000_000n);

/** Parses a Go duration such as `30s`, `5m` or `1h30m`, or a plain number of seconds. Returns milliseconds. */
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

/** Parses a `--timeout`, which must not be 0. */
export function timeout(value: string): number {
  const ms = positiveSeconds(value);
  if (ms === 0) throw new InvalidArgumentError('it must be longer than 0; without it there is no limit');
  return ms;
}

/** Parses an integer up to 2^53 - 1, beyond which JavaScript numbers lose precision. */
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
/** kubectl's options for selecting a cluster, for commands that can also read from this machine's node. */
export const clusterOptions = () => [
  new Option('--kubeconfig <file>', 'read the cluster of this file (default: the node of this machine)'),
  new Option('--context <name>', 'with --kubeconfig: a context of the file (default: its current one)'),
];
export const contextNamespaceOption = () =>
  new Option(
    '-n, --namespace <name>',
    "namespace of the object (default: that of the kubeconfig's context, or default)",
  );
export const objectOutputOption = () =>
  new Option('-o, --output <format>', 'wide, json, yaml, kyaml, name, jsonpath=TEMPLATE or custom-columns=TITLE:PATH,…')
    .argParser(parseObjectFormat)
    .default({ type: 'table' }, 'a table');
export const allNamespacesOption = () => new Option('-A, --all-namespaces', 'those of all namespaces');
export const selectorOption = () =>
  new Option('-l, --selector <selector>', 'only those with these labels: a=b, a!=b, a in (b,c), a, !a');

/** Parses environment variables like kubectl: `A=1`, or several separated by commas. */
export function environmentVariables(value: string, before: { name: string; value: string }[]) {
  const added = value.split(/,(?=[A-Za-z_][\w.-]*=)/).map((text) => {
    const [, name, content] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === undefined) throw new InvalidArgumentError('a variable such as NAME=value is needed');
    return { name, value: content! };
  });
  return [...before, ...added];
}

/** Checks that a time is in RFC 3339 format. */
export function pointInTime(value: string): string {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.test(value);
  if (isTime && !Number.isNaN(Date.parse(value))) return value;
  throw new InvalidArgumentError('a time such as 2026-11-05T12:00:00Z is needed');
}

/** Parses kubectl's `--grace-period`, which may be negative. */
export function graceSeconds(value: string): number {
  return value.startsWith('-') ? -count(value.slice(1)) : count(value);
}

/** Parses the `--timeout` of `kubectl wait`, which may be negative. Returns milliseconds. */
export function signedSeconds(value: string): number {
  return value.startsWith('-') ? -positiveSeconds(value.slice(1)) : positiveSeconds(value);
}

/** Parses a list of event types: `Normal,Warning`. */
export function eventTypes(value: string, before: ('Normal' | 'Warning')[] = []): ('Normal' | 'Warning')[] {
  const added = value.split(',').map((type) => {
    const known = (['Normal', 'Warning'] as const).find((one) => one.toLowerCase() === type.trim().toLowerCase());
    if (known === undefined) throw new InvalidArgumentError(`"${type}" is neither Normal nor Warning`);
    return known;
  });
  return [...before, ...added];
}

/** Parser for a repeatable option: joins its values with commas. */
export const joined = (value: string, before?: string): string => (before === undefined ? value : `${before},${value}`);

/** Parser for a repeatable option: collects its values. */
export const gathered = (value: string, before: string[] = []): string[] => [...before, value];

/** Declares kubectl's `-f` option, which is repeatable and accepts a comma-separated list. */
export const fileOption = () =>
  new Option(
    '-f, --filename <file>',
    'a manifest, a directory of them, an http(s) URL, or - for standard input',
  ).argParser((value: string, before: string[] | undefined) => [...(before ?? []), ...value.split(',')]);
export const manifestNamespaceOption = () =>
  new Option('-n, --namespace <name>', 'namespace of objects that name none; objects of another namespace are refused');
export const recursiveOption = () => new Option('-R, --recursive', 'also read subdirectories');
export const strictOption = () =>
  new Option('--strict', 'refuse objects that would be skipped (Service, Role and the like), and duplicate fields');

const DRY_RUN_MODES = ['client', 'server', 'none'];

/** Declares kubectl's `--dry-run[=server]` option. Even the mode `client` calls the node. */
export const dryRunOption = (what: string) => new Option('--dry-run [mode]', what);

/** Treats the word after `--dry-run` as a manifest unless it is a mode. Throws `invalid_argument` if it is neither. */
export function withDryRun<T extends { dryRun?: string | boolean }>(
  files: string[],
  options: T,
): { files: string[]; options: Omit<T, 'dryRun'> & { dryRun: boolean } } {
  const { dryRun = false } = options;
  const isFile = typeof dryRun === 'string' && !DRY_RUN_MODES.includes(dryRun);
  if (isFile && /^\w+$/.test(dryRun) && !existsSync(dryRun)) {
    const message = `--dry-run ${dryRun}: is none of ${DRY_RUN_MODES.join(', ')}, nor an existing manifest`;
    throw new PodwrightError('invalid_argument', message);
  }
  return {
    files: isFile ? [dryRun, ...files] : files,
    options: { ...options, dryRun: dryRun !== false && dryRun !== 'none' },
  };
}
