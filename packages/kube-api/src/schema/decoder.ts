import { didYouMean, isRecord } from '@podwright/base';
import type { IssueList } from '../issue.ts';
import { isQuantity } from '../values/quantity.ts';

/**
 * Turns a value of unknown shape into a `T`, reporting everything wrong with it. When something was reported the result is
 * not to be used; it only lets the decoder go on and find the rest.
 */
export type Decoder<T> = ((value: unknown, issues: IssueList) => T) & {
  /** It decodes a map. */
  readonly isMap?: true;
};

/** Of a field of an API server's object that asks for what this kubelet cannot do. */
export const UNSUPPORTED = 'is not supported';

/** One decoder a field: the compiler refuses a schema that forgets a field of the type. */
export type Fields<T> = { [K in keyof T]-?: Decoder<NonNullable<T[K]>> };

export type ObjectRules<T> = {
  required?: readonly (keyof T & string)[];
  /** Fields that Kubernetes has and Podwright does not support yet. */
  notYet?: readonly string[];
  /** Fields that manifests must not have, and why; in a pod of an API server they work if they are decoded. */
  refused?: Readonly<Record<string, string>>;
  /** The same of fields that change nothing here: objects of an API server keep them. */
  serverOnly?: Readonly<Record<string, string>>;
};

/**
 * An object with exactly these fields, and one of an API server with others besides, which are kept. As in Kubernetes, `null` counts
 * as absent, and so does a list or a map without elements, unless it is required.
 */
export function object<T extends object>(fields: Fields<T>, rules: ObjectRules<T> = {}): Decoder<T> {
  const decoders = new Map<string, Decoder<unknown>>(Object.entries(fields));
  const { notYet = [], refused = {}, serverOnly = {} } = rules;
  const reasons: Record<string, string> = { ...refused, ...serverOnly };
  const known = [...decoders.keys(), ...notYet, ...Object.keys(reasons)];
  const keep = (result: Record<string, unknown>, [key, field]: [string, unknown], issues: IssueList) => {
    if (isEmpty(field) || key === '__proto__') return;
    if (notYet.includes(key) || Object.hasOwn(refused, key)) issues.addKey(UNSUPPORTED);
    result[key] = field;
  };
  return (value, issues) => {
    if (!isRecord(value)) return wrong<T>(issues, 'an object', { value });
    const result: Record<string, unknown> = {};
    for (const [key, field] of Object.entries(value)) {
      const refusedHere = !issues.isOfApiServer && Object.hasOwn(reasons, key);
      const decode = refusedHere ? undefined : decoders.get(key);
      if (decode !== undefined) {
        if (field === null || field === undefined) continue;
        const decoded = decode(field, issues.at(key)); // first: an empty list is wrong where an object belongs
        if (rules.required?.includes(key as keyof T & string) || !isEmpty(field, decode)) result[key] = decoded;
      } else if (issues.isOfApiServer) keep(result, [key, field], issues.at(key));
      else issues.at(key).addKey(() => refusal(key, known, { notYet, reasons }));
    }
    for (const key of rules.required ?? []) {
      if ((value[key] ?? undefined) === undefined) issues.at(key).addKey('is required');
    }
    return result as T;
  };
}

type Refusals = { notYet: readonly string[]; reasons: Readonly<Record<string, string>> };

function refusal(key: string, known: string[], { notYet, reasons }: Refusals): string {
  if (Object.hasOwn(reasons, key)) return reasons[key]!;
  return notYet.includes(key) ? 'is not supported yet' : `unknown field${didYouMean(key, known)}`;
}

/** Whether a field asks for nothing. */
function isEmpty(field: unknown, { isMap }: { isMap?: true } = {}): boolean {
  if (field === null || field === undefined) return true;
  return Array.isArray(field)
    ? field.length === 0
    : isMap === true && isRecord(field) && Object.keys(field).length === 0;
}

/** A list whose elements `element` decodes. */
export function list<T>(element: Decoder<T>): Decoder<T[]> {
  return (value, issues) => {
    if (!Array.isArray(value)) return wrong<T[]>(issues, 'a list', { value });
    return value.map((item, index) => element(item, issues.at(index)));
  };
}

/** A map from any key to what `element` decodes. */
export function mapOf<T>(element: Decoder<T>): Decoder<Record<string, T>> {
  const decode = (value: unknown, issues: IssueList): Record<string, T> => {
    if (!isRecord(value)) return wrong<Record<string, T>>(issues, 'an object', { value });
    const entries = Object.entries(value).map(([key, item]) => [key, element(item, issues.at(key))] as const);
    return Object.fromEntries(entries);
  };
  return Object.assign(decode, { isMap: true as const });
}

export const string: Decoder<string> = (value, issues) => {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number' && typeof value !== 'boolean') return wrong<string>(issues, 'a string', { value });
  issues.addUnquoted(() => `must be a string, got ${describe(value)}`);
  return '';
};

export const boolean: Decoder<boolean> = (value, issues) =>
  typeof value === 'boolean' ? value : wrong<boolean>(issues, 'true or false', { value });

/** A whole number within the bounds, a signed 32-bit one unless given. */
export function integer(min = -(2 ** 31), max = 2 ** 31 - 1): Decoder<number> {
  return (value, issues) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) return wrong<number>(issues, 'an integer', { value });
    if (value < min || value > max) issues.add(`must be between ${min} and ${max}, got ${value}`);
    return value;
  };
}

/** The greatest number below 2^63 that JavaScript has. */
const MAX_INT64 = 2 ** 63 - 1024;

/** A whole number of 64 bits. Beyond 2^53 it is rounded, to what is still one of 64 bits. */
export const int64: Decoder<number> = (value, issues) => {
  if (typeof value !== 'number' || !Number.isInteger(value)) return wrong<number>(issues, 'an integer', { value });
  if (Math.abs(value) > 2 ** 63)
    issues.add(`must be between ${-(2n ** 63n)} and ${2n ** 63n - 1n}, got ${describe(value)}`);
  return Math.min(value, MAX_INT64);
};

/** One of the given values, spelled exactly so. */
export function oneOf<const T extends string>(...values: T[]): Decoder<T> {
  return (value, issues) => {
    if (typeof value === 'string' && (values as string[]).includes(value)) return value as T;
    const spelled = values.map((one) => (one === '' ? '""' : one)).join(', ');
    const hint = () => (typeof value === 'string' ? didYouMean(value, values) : '');
    return wrong<T>(issues, values.length === 1 ? spelled : `one of ${spelled}`, { value, hint });
  };
}

/** The same of what only schedulers act upon: an API server may know more of these values than we do. */
export function oneOfForSchedulers<const T extends string>(...values: T[]): Decoder<T> {
  const strict = oneOf(...values);
  return (value, issues) => (issues.isOfApiServer && typeof value === 'string' ? (value as T) : strict(value, issues));
}

/** An amount such as `500m`, `64Mi` or plain `2`; kept as text. */
export const quantity: Decoder<string> = (value, issues) => {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && isQuantity(text)) return text;
  return wrong<string>(issues, 'a quantity such as 500m, 2, 64Mi or 1G', { value });
};

/** A port by number or name. */
export const intOrString: Decoder<number | string> = (value, issues) =>
  typeof value === 'string' ? value : integer()(value, issues);

/** Any value, kept as it is: for what the node itself writes and reads back. */
export const anything: Decoder<never> = (value) => value as never;

/** Reports that `expected` was expected here instead of `value`. */
function wrong<T>(
  issues: IssueList,
  expected: string,
  { value, hint = () => '' }: { value: unknown; hint?: () => string },
): T {
  issues.add(() => `must be ${expected}, got ${describe(value)}${hint()}`);
  return undefined as T;
}

/** How a message names a value: short, and without the content of lists and objects. */
function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  const text = typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
