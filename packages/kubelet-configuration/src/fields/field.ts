import type { ConfigurableOptions } from '../options/configurable-options.ts';
import { type OptionAt, type OptionPath, withOption } from '../options/option-path.ts';
import type { FieldType } from './field-types.ts';
import type { TomlKey } from './toml-key.ts';

/**
 * How the kubelet treats a field or flag. The texts appear in the documentation; each is a clause that starts in lowercase and has no
 * period.
 */
export type Effect<T> =
  /** Honored: `apply` sets kubelet options. `how` adds a qualification for the documentation. */
  | {
      kind: 'sets';
      apply: (options: ConfigurableOptions, value: T) => ConfigurableOptions;
      how?: string;
      composed?: OptionPath;
    }
  /** Ignored: any value is accepted. */
  | { kind: 'nothing'; because: string }
  /** Rejected unless the value requests the only behavior this kubelet supports. */
  | { kind: 'only'; allows: (value: T) => boolean; values: string; because: string };

/**
 * A row in the table of fields and flags. `fallback` is upstream's default value, of type `D`. `make docs` generates
 * docs/kubelet-configuration from these rows.
 */
export type Field<T = unknown, D = unknown> = {
  type: FieldType<T>;
  fallback: D;
  /** The flag's name without dashes. Some fields have no flag. */
  flag?: string;
  /** The flag's one-letter shorthand, such as `v`. */
  letter?: string;
  /** The field's meaning, for the help text and the documentation: a phrase that starts in lowercase and has no period. */
  about: string;
  /** The equivalent key in Podwright's own configuration file. */
  key?: TomlKey<T>;
  /** Returns the problems with a value. Checks that involve several fields are in `rules`. */
  check?: (value: T | D) => string[];
  effect: Effect<T | D>;
  /** Set if the field's zero value differs from unset, as for fields that are pointers in upstream. */
  keepsZero?: true;
};

export type ValueOf<F> = F extends Field<infer T, infer D> ? T | D : never;

/** The default value of a map: empty. */
export const NO_ENTRIES: Readonly<Record<string, never>> = {};

type Rest<T, D> = Omit<Field<T, D>, 'type' | 'fallback'>;

export function field<T, D extends T | undefined>(type: FieldType<T>, fallback: D, rest: Rest<T, D>): Field<T, D> {
  return { type, fallback, ...rest };
}

/**
 * Returns an effect that sets an option to the field's value, or to the result of `from`, which also receives the option's current value.
 */
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

/** Combines several effects of kind `sets`. */
export function setsAll<T>(...effects: Effect<T>[]): Effect<T> {
  const all = effects.filter((effect) => effect.kind === 'sets');
  return {
    kind: 'sets',
    apply: (options, value) => all.reduce((changed, { apply }) => apply(changed, value), options),
    composed: all.find(({ composed }) => composed !== undefined)?.composed,
  };
}

/** Returns the effect of a field that determines an option together with other fields (`composed-options.ts`). */
export const composes = (composed: OptionPath): Effect<unknown> => ({ kind: 'sets', apply: unchanged, composed });

/** The effect of a field that sets no kubelet option but is honored elsewhere: by a rule, the API server client or the logger. */
export const setsNoOption: Effect<unknown> = { kind: 'sets', apply: unchanged };

function unchanged(options: ConfigurableOptions): ConfigurableOptions {
  return options;
}

/** Adds a qualification to an effect, for the documentation. */
export const noted = <T>(effect: Effect<T>, how: string): Effect<T> => ({ ...effect, how }) as Effect<T>;

/** Marks an effect as honored only with an API server. */
export const inCluster = <T>(effect: Effect<T>, how?: string) =>
  noted(effect, how === undefined ? 'in a cluster' : `in a cluster; ${how}`);

export const nothing = (because: string) => ({ kind: 'nothing', because }) as const;

/**
 * Returns the effect of a field that supports only some values. `allowed` lists these values, or is a predicate together with a description
 * of them.
 */
export function only<T>(allowed: T[] | { when: (value: T) => boolean; values: string }, because: string): Effect<T> {
  if (!Array.isArray(allowed)) return { kind: 'only', allows: allowed.when, values: allowed.values, because };
  const values = allowed.map((value) => JSON.stringify(value)).join(' or ');
  return { kind: 'only', allows: (value) => allowed.includes(value), values, because };
}

const isEmpty = (value: object) => Object.keys(value).length === 0;
export const onlyEmpty = (because: string): Effect<object> =>
  only({ when: isEmpty, values: 'an empty value' }, because);
