import type { ConfigurableOptions } from '../options/configurable-options.ts';
import { type OptionAt, type OptionPath, withOption } from '../options/option-path.ts';
import type { FieldType } from './field-types.ts';
import type { TomlKey } from './toml-key.ts';

/**
 * How the kubelet treats a field or flag. The texts appear in the documents; each is a clause without a capital and a full
 * stop.
 */
export type Effect<T> =
  /** Honoured: `apply` sets options of the kubelet. `how` adds a qualification for the documents. */
  | {
      kind: 'sets';
      apply: (options: ConfigurableOptions, value: T) => ConfigurableOptions;
      how?: string;
      composed?: OptionPath;
    }
  /** Accepted with any value, and ignored. */
  | { kind: 'nothing'; because: string }
  /** Rejected, unless the value requests the only behaviour that this kubelet has. */
  | { kind: 'only'; allows: (value: T) => boolean; values: string; because: string };

/**
 * A row of the table of fields and flags. `fallback` is upstream's default, of type `D`. `make docs` generates
 * docs/kubelet-configuration from the rows.
 */
export type Field<T = unknown, D = unknown> = {
  type: FieldType<T>;
  fallback: D;
  /** The name of the flag without dashes. Some fields have none. */
  flag?: string;
  /** The one-letter form of the flag, such as `v`. */
  letter?: string;
  /** The meaning of the field, for the help and the documents: one phrase without a capital and a full stop. */
  about: string;
  /** The key in Podwright's own configuration file with the same meaning. */
  key?: TomlKey<T>;
  /** Returns the problems of a value. `rules` contains checks that involve several fields. */
  check?: (value: T | D) => string[];
  effect: Effect<T | D>;
  /** Set if zero differs from unset, as for a pointer in upstream. */
  keepsZero?: true;
};

export type ValueOf<F> = F extends Field<infer T, infer D> ? T | D : never;

/** The default of a table: empty. */
export const NO_ENTRIES: Readonly<Record<string, never>> = {};

type Rest<T, D> = Omit<Field<T, D>, 'type' | 'fallback'>;

export function field<T, D extends T | undefined>(type: FieldType<T>, fallback: D, rest: Rest<T, D>): Field<T, D> {
  return { type, fallback, ...rest };
}

/**
 * Returns an effect that sets an option to the value, or to the result of `from`, which also gets the option's current value.
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

/** Combines several effects of the kind `sets`. */
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

/** The effect of a field that sets no option, but is honoured by a rule, by the client of the API server, or by the logger. */
export const setsNoOption: Effect<unknown> = { kind: 'sets', apply: unchanged };

function unchanged(options: ConfigurableOptions): ConfigurableOptions {
  return options;
}

/** Adds a qualification to an effect, for the documents. */
export const noted = <T>(effect: Effect<T>, how: string): Effect<T> => ({ ...effect, how }) as Effect<T>;

/** Qualifies an effect as honoured only with an API server. */
export const inCluster = <T>(effect: Effect<T>, how?: string) =>
  noted(effect, how === undefined ? 'in a cluster' : `in a cluster; ${how}`);

export const nothing = (because: string) => ({ kind: 'nothing', because }) as const;

/**
 * Returns the effect of a field with only some supported values: `allowed` lists them, or is a predicate with a description.
 */
export function only<T>(allowed: T[] | { when: (value: T) => boolean; values: string }, because: string): Effect<T> {
  if (!Array.isArray(allowed)) return { kind: 'only', allows: allowed.when, values: allowed.values, because };
  const values = allowed.map((value) => JSON.stringify(value)).join(' or ');
  return { kind: 'only', allows: (value) => allowed.includes(value), values, because };
}

const isEmpty = (value: object) => Object.keys(value).length === 0;
export const onlyEmpty = (because: string): Effect<object> =>
  only({ when: isEmpty, values: 'an empty value' }, because);
