import { didYouMean, isRecord } from '@podwright/base';
import type { IssueList } from '../issue.ts';
import { isQuantity } from '../values/quantity.ts';

/**
 * Decodes an unknown value to a `T`, and reports all issues. If there are any, the returned value may only be used to find further issues.
 */
export type Decoder<T> = ((value: unknown, issues: IssueList) => T) & {
  readonly isMap?: true;
};

/** Issue message for a field in an object from an API server that is not supported by this kubelet. */
export const UNSUPPORTED = 'is not supported';

/** One decoder per field. A schema that is missing a field of the type does not compile. */
export type Fields<T> = { [K in keyof T]-?: Decoder<NonNullable<T[K]>> };

export type ObjectRules<T> = {
  required?: readonly (keyof T & string)[];
  /** Kubernetes fields that are not supported yet. */
  notYet?: readonly string[];
  /** Fields not allowed in manifests, with the reason. In pods from an API server, they are accepted if they have a decoder. */
  refused?: Readonly<Record<string, string>>;
  /**
   * Fields supported only by nodes that serve the Kubernetes API, with the reason for rejecting them on other nodes. Nodes that serve it
   * accept these fields, and preserve them unchanged if they have no decoder: the API server validates them.
   */
  needApi?: Readonly<Record<string, string>>;
  /** Like `refused`, but for fields that have no effect on a node. Objects from an API server keep these fields. */
  serverOnly?: Readonly<Record<string, string>>;
};

/**
 * Returns a decoder for an object with exactly these fields, except that unknown fields are preserved in objects from an API server. As in
 * Kubernetes, `null` is treated as absent, and so is an empty list or map unless the field is required.
 */
export function object<T extends object>(fields: Fields<T>, rules: ObjectRules<T> = {}): Decoder<T> {
  const decoders = new Map<string, Decoder<unknown>>(Object.entries(fields));
  const { notYet = [], refused = {}, needApi = {}, serverOnly = {} } = rules;
  const reasons: Record<string, string> = { ...refused, ...needApi, ...serverOnly };
  const known = [...decoders.keys(), ...notYet, ...Object.keys(reasons)];
  const keep = (result: Record<string, unknown>, [key, field]: [string, unknown], issues: IssueList) => {
    if (isEmpty(field) || key === '__proto__') return;
    if (
      issues.isOfApiServer &&
      [notYet, Object.keys(refused), Object.keys(needApi)].some((names) => names.includes(key))
    )
      issues.addKey(UNSUPPORTED);
    result[key] = field;
  };
  return (value, issues) => {
    if (!isRecord(value)) return wrong<T>(issues, 'an object', { value });
    const result: Record<string, unknown> = {};
    for (const [key, field] of Object.entries(value)) {
      const isOfApi = issues.isOfApiServer || (Object.hasOwn(needApi, key) && issues.acceptApiField());
      const refusedHere = !isOfApi && Object.hasOwn(reasons, key);
      const decode = refusedHere ? undefined : decoders.get(key);
      if (decode !== undefined) {
        if (field === null || field === undefined) continue;
        const decoded = decode(field, issues.at(key)); // first: an empty list is an error where an object is expected
        if (rules.required?.includes(key as keyof T & string) || !isEmpty(field, decode)) result[key] = decoded;
      } else if (isOfApi) keep(result, [key, field], issues.at(key));
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

function isEmpty(field: unknown, { isMap }: { isMap?: true } = {}): boolean {
  if (field === null || field === undefined) return true;
  return Array.isArray(field)
    ? field.length === 0
    : isMap === true && isRecord(field) && Object.keys(field).length === 0;
}

/** Returns a decoder for a list whose elements are decoded by `element`. */
export function list<T>(element: Decoder<T>): Decoder<T[]> {
  return (value, issues) => {
    if (!Array.isArray(value)) return wrong<T[]>(issues, 'a list', { value });
    return value.map((item, index) => element(item, issues.at(index)));
  };
}

/** Returns a decoder for a map with arbitrary keys, whose values are decoded by `element`. */
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

/** Returns a decoder for an integer in the given range (signed 32-bit by default). */
export function integer(min = -(2 ** 31), max = 2 ** 31 - 1): Decoder<number> {
  return (value, issues) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) return wrong<number>(issues, 'an integer', { value });
    if (value < min || value > max) issues.add(`must be between ${min} and ${max}, got ${value}`);
    return value;
  };
}

/** The largest value below 2^63 that can be represented by a JavaScript number. */
const MAX_INT64 = 2 ** 63 - 1024;

/** Decodes a 64-bit integer. Values beyond 2^53 are rounded to the nearest JavaScript number. */
export const int64: Decoder<number> = (value, issues) => {
  if (typeof value !== 'number' || !Number.isInteger(value)) return wrong<number>(issues, 'an integer', { value });
  if (Math.abs(value) > 2 ** 63)
    issues.add(`must be between ${-(2n ** 63n)} and ${2n ** 63n - 1n}, got ${describe(value)}`);
  return Math.min(value, MAX_INT64);
};

/** Returns a decoder for one of the given values (case-sensitive). */
export function oneOf<const T extends string>(...values: T[]): Decoder<T> {
  return (value, issues) => {
    if (typeof value === 'string' && (values as string[]).includes(value)) return value as T;
    const spelled = values.map((one) => (one === '' ? '""' : one)).join(', ');
    const hint = () => (typeof value === 'string' ? didYouMean(value, values) : '');
    return wrong<T>(issues, values.length === 1 ? spelled : `one of ${spelled}`, { value, hint });
  };
}

/** Like `oneOf`, but for fields used only by schedulers: any string is accepted in objects from an API server. */
export function oneOfForSchedulers<const T extends string>(...values: T[]): Decoder<T> {
  const strict = oneOf(...values);
  return (value, issues) => (issues.isOfApiServer && typeof value === 'string' ? (value as T) : strict(value, issues));
}

/** Decodes a quantity such as `500m`, `64Mi` or `2` to a string. */
export const quantity: Decoder<string> = (value, issues) => {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && isQuantity(text)) return text;
  return wrong<string>(issues, 'a quantity such as 500m, 2, 64Mi or 1G', { value });
};

/** Decodes a port number or name. */
export const intOrString: Decoder<number | string> = (value, issues) =>
  typeof value === 'string' ? value : integer()(value, issues);

/** Accepts any value unchanged. For fields both written and read by the node itself. */
export const anything: Decoder<never> = (value) => value as never;

/** Adds an issue saying that the value must be `expected`. */
function wrong<T>(
  issues: IssueList,
  expected: string,
  { value, hint = () => '' }: { value: unknown; hint?: () => string },
): T {
  issues.add(() => `must be ${expected}, got ${describe(value)}${hint()}`);
  return undefined as T;
}

/** Describes a value briefly for messages, without the contents of lists and objects. */
function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  const text = typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
