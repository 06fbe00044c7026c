/** Checks for the values of single fields. Each returns the problems it finds. Checks across fields are in `rules`. */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { errorMessage } from '@podwright/base';
import { parseCollectorEndpoint } from '@podwright/cri';
import { isQuantity, parseCpus, parseQuantity } from '@podwright/kube-api';
import { CIPHER_SUITES } from '../options/cipher-suites.ts';
import { allowlistProblem } from '../verification-policy.ts';

const IDS_UNIT = 65_536;
const MIN_MONITOR_MS = 3000;

/** Returns `message` as the only problem if the condition does not hold, otherwise no problems. */
export const must = (holds: boolean, message: string): string[] => (holds ? [] : [message]);

export const atLeast = (min: number) => (value: number) => must(value >= min, `must be at least ${min}`);

/** Returns a check that a value is within bounds. `from` and `to` are the bounds as shown in the message. */
export const between =
  (min: number, max: number, [from, to]: [string | number, string | number] = [min, max]) =>
  (value: number) =>
    must(value >= min && value <= max, `must be between ${from} and ${to}`);

/** Returns a check that applies `check` to each item of a list. */
export const each =
  <T>(check: (item: T) => string[]) =>
  (items: T[]) =>
    items.flatMap(check);

export const logsDirProblems = (directory: string) =>
  must(
    resolve(directory) === directory && /^[\0-\x7f]*$/.test(directory),
    'must be an absolute path of ASCII characters without ., .. and a trailing slash',
  );

export const logSizeProblems = (size: string) =>
  must(isQuantity(size) && parseQuantity(size).nanos > 0n, 'must be an amount such as 10Mi');

export const logCountProblems = (count: number) => must(count > 1, 'must be greater than 1');

export const monitorIntervalProblems = (ms: number) => must(ms >= MIN_MONITOR_MS, 'must be at least 3s');

export const dnsServerProblems = (address: string) =>
  must(isIP(address) !== 0, `${address.slice(0, 60)} is not an IP address`);

export const manifestUrlProblems = (url: string) =>
  must(url === '' || /^https?:\/\/[^/@]+(\/|$)/.test(url), 'must be an http or https URL without user and password');

export const headerNameProblems = (headers: object) =>
  Object.keys(headers).flatMap((name) =>
    must(/^[\w!#$%&'*+.^`|~-]+$/.test(name), `${name.slice(0, 60)} is not a valid header name`),
  );

export const idCountProblems = (ids: number) =>
  must(
    ids >= IDS_UNIT && ids % IDS_UNIT === 0 && ids < 2 ** 32,
    `must be a multiple of ${IDS_UNIT} of at most 32 bits`,
  );

export const sysctlProblems = (name: string) =>
  must(
    /^([a-z0-9][-_a-z0-9]*[./])*([a-z0-9][-_a-z0-9]*|\*)$/.test(name.replace(/([a-z0-9_-])\*$/, '$1')),
    `${name.slice(0, 60)} is not a sysctl name, with or without a trailing *`,
  );

export const emptyProblems = (text: string) => must(text !== '', 'must not be empty');

export function allowlistProblems(pattern: string): string[] {
  const problem = allowlistProblem(pattern);
  return must(problem === undefined, `"${pattern}" ${problem}`);
}

export const portProblems = between(1, 65_535);
export const optionalPortProblems = between(0, 65_535);

export const cipherSuiteProblems = (name: string) =>
  must(Object.hasOwn(CIPHER_SUITES, name), `unknown cipher suite ${name.slice(0, 60)}`);

/** Upstream accepts only the previous minor version. */
export const hiddenVersionProblems = (version: string) =>
  must(version === '' || version === '1.35', 'must be the previous version, 1.35');

export function collectorProblems(endpoint = ''): string[] {
  try {
    if (endpoint !== '') parseCollectorEndpoint(endpoint);
    return [];
  } catch (error) {
    return [errorMessage(error)];
  }
}

const RESERVED = ['cpu', 'memory', 'pid', 'ephemeral-storage'];

export const reserveProblems = (amounts: Record<string, string>) =>
  Object.entries(amounts).flatMap(([name, amount]) =>
    RESERVED.includes(name)
      ? must(
          isQuantity(amount) && parseQuantity(amount).nanos >= 0n,
          `${name} must be an amount such as 500m or 1Gi, got ${JSON.stringify(amount.slice(0, 60))}`,
        )
      : [`cannot reserve ${name.slice(0, 60)}, only ${RESERVED.join(', ')}`],
  );

export const pidsLimitProblems = (limit: number) => must(limit !== 0, 'must be at least 1, or -1 for no limit');

export const fractionProblems = (factor: number) =>
  must(factor > 0 && factor <= 1, 'must be more than 0 and at most 1');

export function cpuListProblems(text: string): string[] {
  try {
    parseCpus(text);
    return [];
  } catch {
    return ['must be a list such as 0,2-3'];
  }
}

export function nodeIpProblems(addresses: string): string[] {
  const families = addresses.split(',').map((address) => isIP(address.trim()));
  const isOneOfEach = families.every((family) => family !== 0) && new Set(families).size === families.length;
  return must(addresses === '' || isOneOfEach, 'must be an IP address, or one of each family separated by a comma');
}
