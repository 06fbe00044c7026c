import type { ConfigurableOptions } from '../options/configurable-options.ts';
import { type OptionAt, type OptionPath, withOption } from '../options/option-path.ts';
import type { FieldType } from './field-types.ts';
import type { TomlKey } from './toml-key.ts';

/** How the kubelet treats a field or flag. Texts are for the documents: a clause without a capital and full stop. */
export type Effect<T> =
  /** Honoured: `apply` sets options of the kubelet. `how` qualifies it. */
  | {
      kind: 'sets';
      apply: (options: ConfigurableOptions, value: T) => ConfigurableOptions;
      how?: string;
      composed?: OptionPath;
    }
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
  /** The key of the same setting in Podwright's own configuration file. */
  key?: TomlKey<T>;
  /** The problems of a value. Rules on several fields are in `rules`. */
  check?: (value: T | D) => string[];
  effect: Effect<T | D>;
  /** Zero differs from unset, as for upstream's pointers. */
  keepsZero?: true;
};

export type ValueOf<F> = F extends Field<infer T, infer D> ? T | D : never;

/** The default of a table. */
export const NO_ENTRIES: Readonly<Record<string, never>> = {};

type Rest<T, D> = Omit<Field<T, D>, 'type' | 'fallback'>;

export function field<T, D extends T | undefined>(type: FieldType<T>, fallback: D, rest: Rest<T, D>): Field<T, D> {
  return { type, fallback, ...rest };
}

/** Sets an option to the value, or to the result of `from`, which also gets the option's present value. */
export function sets<P extends OptionPath>(option: P): Effect<OptionAt<P>>;
export function sets<P extends OptionPath, T>(
  option: P,
  from: (value: T, before: OptionAt<P>) => OptionAt<P>,
): Effect<T>;
export function sets<P extends OptionPath>(
  option: P,
  from = (value: OptionAt<P>, _: OptionAt<P>) => value,
): Effect<OptionAt<P>> {
  return { kind: 'sets', apply: (options, value) => withOption(options, option, (before) => from(value, before)) };
}

/** Has several effects of the kind `sets`. */
export function setsAll<T>(...effects: Effect<T>[]): Effect<T> {
  const all = effects.filter((effect) => effect.kind === 'sets');
  return {
    kind: 'sets',
    apply: (options, value) => all.reduce((changed, { apply }) => apply(changed, value), options),
    composed: all.find(({ composed }) => composed !== undefined)?.composed,
  };
}

/** Determines an option together with other fields: `composed-options.ts`. */
export const composes = (composed: OptionPath): Effect<unknown> => ({ kind: 'sets', apply: unchanged, composed });

/** Honoured without an option: by a rule, by the client of the API server, or by the logger. */
export const setsNoOption: Effect<unknown> = { kind: 'sets', apply: unchanged };

function unchanged(options: ConfigurableOptions): ConfigurableOptions {
  return options;
}

/** Qualifies an effect in the documents. */
export const noted = <T>(effect: Effect<T>, how: string): Effect<T> => ({ ...effect, how }) as Effect<T>;

/** Honoured with an API server, ignored without one. */
export const inCluster = <T>(effect: Effect<T>, how?: string) =>
  noted(effect, how === undefined ? 'in a cluster' : `in a cluster; ${how}`);

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
