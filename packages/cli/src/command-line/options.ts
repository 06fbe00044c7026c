import { InvalidArgumentError, Option } from 'commander';
import { parseOutputFormat } from '../output/format.ts';
import { parseObjectFormat } from '../output/object-format.ts';

/** Reads a duration such as `30s`, `5m`, `1h`, or seconds, as milliseconds. */
export function positiveSeconds(value: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(value);
  if (match === null) throw new InvalidArgumentError('a duration such as 30s, 5m or 1h is needed');
  return Number(match[1]) * { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[(match[2] ?? 's') as 'ms' | 's' | 'm' | 'h'];
}

/** Reads a whole number. */
export function count(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('a whole number is needed');
  return Number(value);
}

export const outputOption = () =>
  new Option('-o, --output <format>', 'json, yaml or wide').argParser(parseOutputFormat).default('table', 'a table');
export const namespaceOption = () => new Option('-n, --namespace <name>', 'namespace of the pod').default('default');
export const objectOutputOption = () =>
  new Option('-o, --output <format>', 'wide, json, yaml, name or jsonpath=TEMPLATE')
    .argParser(parseObjectFormat)
    .default({ type: 'table' }, 'a table');
export const allNamespacesOption = () => new Option('-A, --all-namespaces', 'those of all namespaces');
export const selectorOption = () =>
  new Option('-l, --selector <selector>', 'only those with these labels: a=b, a!=b, a in (b,c), a, !a');

/** Reads kubectl's `--timeout` of `wait` as milliseconds; a negative one stays so. */
export function signedSeconds(value: string): number {
  return value.startsWith('-') ? -positiveSeconds(value.slice(1)) : positiveSeconds(value);
}

/** Reads a list of types of events: `Normal,Warning`. */
export function eventTypes(value: string): ('Normal' | 'Warning')[] {
  return value.split(',').map((type) => {
    const known = (['Normal', 'Warning'] as const).find((one) => one.toLowerCase() === type.trim().toLowerCase());
    if (known === undefined) throw new InvalidArgumentError(`"${type}" is neither Normal nor Warning`);
    return known;
  });
}
