import type { FieldType } from './field-types.ts';

/** What a field or flag does to this kubelet. */
export type Effect<T> =
  /** It is honoured, by this option of `KubeletOptions`; how, where that needs words. */
  | { kind: 'sets'; option: string; how?: string }
  /** Whatever it says, nothing changes. */
  | { kind: 'nothing'; because: string }
  /** It is refused, but for values at which nothing changes. */
  | { kind: 'only'; allows: (value: T) => boolean; values: string; because: string };

/** A row of the table of fields and flags. `D` is what is taken where nobody says anything, upstream's default. */
export type Field<T = unknown, D = unknown> = {
  type: FieldType<T>;
  fallback: D;
  /** Without the dashes; upstream has fields without a flag. */
  flag?: string;
  /** The letter of a flag, such as `v`. */
  letter?: string;
  /** In a few words, for help and documents. */
  about: string;
  effect: Effect<T>;
  /** Zero is a value of its own, as upstream's pointers have it. */
  keepsZero?: true;
};

export type ValueOf<F> = F extends Field<infer T, infer D> ? T | D : never;

type Rest<T> = Omit<Field<T>, 'type' | 'fallback'>;

export function field<T, D extends T | undefined>(type: FieldType<T>, fallback: D, rest: Rest<T>): Field<T, D> {
  return { type, fallback, ...rest };
}

export const sets = (option: string, how?: string) => ({ kind: 'sets', option, how }) as const;
export const nothing = (because: string) => ({ kind: 'nothing', because }) as const;

/** `allowed` are the values at which nothing changes, or how to tell them. */
export function only<T>(allowed: T[] | { when: (value: T) => boolean; values: string }, because: string): Effect<T> {
  if (!Array.isArray(allowed)) return { kind: 'only', allows: allowed.when, values: allowed.values, because };
  const values = allowed.map((value) => JSON.stringify(value)).join(' or ');
  return { kind: 'only', allows: (value) => allowed.includes(value), values, because };
}

const isEmpty = (value: object) => Object.keys(value).length === 0;
export const onlyEmpty = (because: string): Effect<object> => only({ when: isEmpty, values: 'an empty one' }, because);

/** What is honoured where there is an API server, and else changes nothing. */
export const setsInCluster = (option: string, how?: string) =>
  sets(option, how === undefined ? 'in a cluster' : `in a cluster; ${how}`);
