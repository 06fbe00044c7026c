/** Field and flag types: how values are decoded from files and the command line. */
import { isIP } from 'node:net';
import {
  anything,
  boolean,
  type Decoder,
  integer,
  list,
  mapOf,
  object,
  oneOf,
  parseGoDuration,
  quantity,
  string as text,
} from '@podwright/kube-api';

export type FieldType<T> = {
  /** The type's name in the help text. */
  name: string;
  /** The allowed values of an enumeration. */
  values?: readonly string[];
  decode: Decoder<T>;
  /**
   * Converts a flag's text to the value that a file would contain. `before` is the value of an earlier occurrence of the flag on the
   * command line.
   */
  fromFlag: (flag: string, before: unknown) => unknown;
  /** Whether a value is Go's zero value, which most fields cannot distinguish from unset. */
  isZero: (value: T) => boolean;
  /** Merges the field's values from two configuration files. If unset, the value from the later file wins. */
  merge?: (under: T, over: T) => T;
  /** Set if the field's value is a path. Relative paths are resolved against the configuration file's directory. */
  isPath?: true;
};

/** Maximum shutdown delay. Far longer than any real one, but small enough for systemd-logind, which counts in microseconds. */
const MAX_SHUTDOWN_SECONDS = 1_000_000;

const asText = (flag: string) => flag;

export const bool: FieldType<boolean> = {
  name: 'bool',
  decode: boolean,
  fromFlag: (flag) =>
    /^(1|t|T|true|TRUE|True)$/.test(flag) ? true : /^(0|f|F|false|FALSE|False)$/.test(flag) ? false : flag,
  isZero: () => false, // fields that distinguish false from unset are pointers in upstream
};

const whole = (name: string, decode: Decoder<number>): FieldType<number> => ({
  name,
  decode,
  fromFlag: (flag) => (/^[+-]?\d+$/.test(flag) ? Number(flag) : flag),
  isZero: (value) => value === 0,
});
export const int32 = whole('int', integer());
export const int64 = whole('int', integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER));

export const float: FieldType<number> = {
  name: 'number',
  decode: (value, issues) => {
    if (!Number.isFinite(value)) issues.add(() => `must be a number, got ${shown(value)}`);
    return value as number;
  },
  fromFlag: (flag) => (Number.isNaN(Number(flag)) ? flag : Number(flag)),
  isZero: (value) => value === 0,
};

export const string: FieldType<string> = {
  name: 'string',
  decode: text,
  fromFlag: asText,
  isZero: (value) => value === '',
};
export const path: FieldType<string> = { ...string, name: 'path', isPath: true };

export const ipAddress: FieldType<string> = {
  ...string,
  name: 'ip',
  decode: (value, issues) => {
    const address = text(value, issues);
    if (typeof address === 'string' && address !== '' && isIP(address) === 0)
      issues.add(() => `must be an IP address, got ${shown(address)}`);
    return address;
  },
};

export function choice<const T extends string>(...values: T[]): FieldType<T | ''> {
  return {
    name: 'string',
    values,
    decode: oneOf<T | ''>('', ...values),
    fromFlag: asText,
    isZero: (value) => value === '',
  };
}

/** A duration in milliseconds, written in Go's format in files and flags. */
export const duration: FieldType<number> = {
  name: 'duration',
  decode: (value, issues) => {
    const milliseconds = typeof value === 'string' ? parseGoDuration(value) : undefined;
    if (milliseconds === undefined)
      issues.add(() => `must be a duration such as 300ms, 10s or 2h45m, got ${shown(value)}`);
    return milliseconds ?? 0;
  },
  fromFlag: asText,
  isZero: (value) => value === 0,
};

/** A duration in a logging setting, written in Go's format or as a number of nanoseconds. */
export const durationOrNanoseconds: FieldType<number> = {
  ...duration,
  decode: (value, issues) => (Number.isFinite(value) ? (value as number) / 1e6 : duration.decode(value, issues)),
};

/** A Kubernetes quantity, stored as text. */
export const amount: FieldType<string> = {
  name: 'quantity',
  decode: quantity,
  fromFlag: asText,
  isZero: (value) => value === '',
};

export const stringList: FieldType<string[]> = {
  name: 'list',
  decode: list(text),
  fromFlag: (flag, before) => [...asList(before), ...(flag === '' ? [] : flag.split(','))],
  isZero: () => false, // an empty list is a value, as in upstream's decoder
};
export const intList: FieldType<number[]> = {
  name: 'list',
  decode: list(integer()),
  fromFlag: asText, // no flag has this type
  isZero: () => false,
};

/** A map, written as `a=b,c=d` in a flag, with `separator` in place of the equals sign. */
function table<T>(decode: Decoder<Record<string, T>>, separator = '='): FieldType<Record<string, T>> {
  return {
    name: separator === '=' ? 'k=v,…' : `k${separator}v,…`,
    decode,
    fromFlag: (flag, before) => ({ ...asTable(before), ...pairsOf(flag, separator) }),
    isZero: () => false,
    merge: (under, over) => ({ ...under, ...over }),
  };
}
export const stringTable = table(mapOf(text));
export const thresholds = table(mapOf(text), '<');
export const boolTable: FieldType<Record<string, boolean>> = {
  ...table(mapOf(boolean)),
  fromFlag: (flag, before) => {
    const added = Object.entries(pairsOf(flag, '=')).map(([key, value]) => [key, bool.fromFlag(value, undefined)]);
    return { ...asTable(before), ...Object.fromEntries(added) };
  },
};

/** HTTP headers, each with a list of values, written as `a:hello,b:again` in a flag. */
export const headers: FieldType<Record<string, string[]>> = {
  name: 'k:v,…',
  decode: mapOf(list(text)),
  fromFlag: (flag, before) => {
    const all = new Map(Object.entries(asTable(before) as Record<string, string[]>));
    for (const pair of flag.split(',').filter((one) => one !== '')) {
      const at = pair.indexOf(':');
      if (at < 0) return flag;
      const name = pair.slice(0, at);
      all.set(name, [...(all.get(name) ?? []), pair.slice(at + 1)]);
    }
    return Object.fromEntries(all);
  },
  isZero: () => false,
  merge: (under, over) => ({ ...under, ...over }),
};

/** A list of objects of which only the empty list is supported, so objects are not decoded. */
export const objects: FieldType<object[]> = {
  name: 'list',
  decode: list(anything) as Decoder<object[]>,
  fromFlag: (flag) => (flag === '' ? [] : flag.split(',').map((one) => ({ text: one }))),
  isZero: () => false,
};

/** Shutdown grace periods, each for pods with the given priority or higher. */
export const shutdownPeriods: FieldType<{ priority?: number; shutdownGracePeriodSeconds?: number }[]> = {
  name: 'list',
  decode: list(
    object<{ priority?: number; shutdownGracePeriodSeconds?: number }>({
      priority: integer(),
      shutdownGracePeriodSeconds: integer(0, MAX_SHUTDOWN_SECONDS),
    }),
  ),
  fromFlag: asText, // no flag has this type
  isZero: () => false,
};

/** Memory reserved on NUMA nodes, written as `0:memory=1Gi,hugepages-2Mi=2Mi` in a flag, with semicolons between NUMA nodes. */
export const memoryReservations: FieldType<{ numaNode: number; limits: Record<string, string> }[]> = {
  name: 'node:k=v,…;…',
  decode: list(
    object({ numaNode: integer(0), limits: mapOf(quantity) }, { required: ['numaNode', 'limits'] }),
  ) as Decoder<{ numaNode: number; limits: Record<string, string> }[]>,
  fromFlag: (flag, before) => [
    ...asList(before),
    ...(flag === '' ? [] : flag.split(';')).map((one) => {
      const [, node, limits] = /^(\d{1,9}):(.+)$/.exec(one) ?? [];
      return node === undefined ? one : { numaNode: Number(node), limits: pairsOf(limits!, '=') };
    }),
  ],
  isZero: () => false,
};

/** Splits a flag's text into keys and values. As in upstream, an entry without a separator has an empty value. */
function pairsOf(flag: string, separator: string): Record<string, string> {
  const pairs = flag.split(',').filter((one) => one.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf(separator);
      return at < 0 ? [pair.trim(), ''] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const asTable = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

function shown(value: unknown): string {
  if (typeof value === 'object') return value === null ? 'nothing' : Array.isArray(value) ? 'a list' : 'an object';
  const written = JSON.stringify(value);
  return written.length > 60 ? `${written.slice(0, 57)}…` : written;
}
