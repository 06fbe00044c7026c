import type { FieldType } from './field-types.ts';

/** How the kubelet treats a field or flag. Texts are for the documents: a clause without a capital and full stop. */
export type Effect<T> =
  /** Honoured: sets this option of `KubeletOptions`. `how` qualifies it. */
  | { kind: 'sets'; option: string; how?: string }
  /** Accepted with any value, and ignored. */
  | { kind: 'nothing'; because: string }
  /** Rejected, except for values that request the behaviour that the kubelet always has. */
  | { kind: 'only'; allows: (value: T) => boolean; values: string; because: string };

/**
 * A row of the table of fields and flags. `D` is the type of upstream's default, `fallback`. `make docs` writes
 * docs/kubelet-configuration from the rows.
 */
export type Field<T = unknown, D = unknown> = {
  type: FieldType<T>;
  fallback: D;
  /** The name of the flag without dashes; some fields have no flag. */
  flag?: string;
  /** The letter of a flag, such as `v`. */
  letter?: string;
  /** The meaning, for help and documents: one phrase without a capital and full stop. */
  about: string;
  /** The key of the same setting in Podwright's own configuration file (TOML), as a dotted path. */
  key?: string;
  effect: Effect<T>;
  /** Zero differs from unset, as for upstream's pointers. */
  keepsZero?: true;
};

export type ValueOf<F> = F extends Field<infer T, infer D> ? T | D : never;

type Rest<T> = Omit<Field<T>, 'type' | 'fallback'>;

export function field<T, D extends T | undefined>(type: FieldType<T>, fallback: D, rest: Rest<T>): Field<T, D> {
  return { type, fallback, ...rest };
}

export const sets = (option: string, how?: string) => ({ kind: 'sets', option, how }) as const;
export const nothing = (because: string) => ({ kind: 'nothing', because }) as const;

/** `allowed`: the accepted values, or a predicate and its description. */
export function only<T>(allowed: T[] | { when: (value: T) => boolean; values: string }, because: string): Effect<T> {
  if (!Array.isArray(allowed)) return { kind: 'only', allows: allowed.when, values: allowed.values, because };
  const values = allowed.map((value) => JSON.stringify(value)).join(' or ');
  return { kind: 'only', allows: (value) => allowed.includes(value), values, because };
}

const isEmpty = (value: object) => Object.keys(value).length === 0;
export const onlyEmpty = (because: string): Effect<object> =>
  only({ when: isEmpty, values: 'an empty value' }, because);

/** Honoured with an API server, ignored without one. */
export const setsInCluster = (option: string, how?: string) =>
  sets(option, how === undefined ? 'in a cluster' : `in a cluster; ${how}`);
