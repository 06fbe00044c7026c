/** Keys of Podwright's own configuration file (TOML) that set a field. */
import { resolve } from 'node:path';
import * as z from 'zod';

export type TomlKey<T> = {
  /** The key's dotted path. */
  path: string;
  /**
   * Decodes and validates the key's value. Unset for a key that other components use, too: the program that reads the file then decodes the
   * value.
   */
  schema?: z.ZodType;
  /** Converts the decoded value to the field's value. */
  toField: (decoded: never) => T;
};

/** Returns a config key without a schema in this package: the program that reads the file decodes its value. */
export const otherKey = (path: string): TomlKey<never> => ({ path, toField: (decoded) => decoded });

/** Returns a config key in the `[kubelet]` table. If neither the key nor `fallback` is set, the field is unset. */
export function kubeletKey<V>(name: string, schema: z.ZodType<V>, fallback?: V): TomlKey<V> {
  return convertedKey(name, { schema, fallback, toField: (decoded) => decoded });
}

/**
 * Returns a config key in the `[kubelet]` table. `toField` converts its value to the field's type or unit. If neither the key nor
 * `fallback` is set, the field is unset.
 */
export function convertedKey<V, T>(
  name: string,
  { schema, fallback, toField }: { schema: z.ZodType<V>; fallback?: V; toField: (decoded: V) => T },
): TomlKey<T> {
  const filled = fallback === undefined ? schema.optional() : schema.default(fallback as never);
  return { path: `kubelet.${name}`, schema: filled, toField };
}

/** Returns a config key in seconds, for a field stored in milliseconds. */
export const secondsKey = (name: string, schema: z.ZodType<number>, fallback: number) =>
  convertedKey(name, { schema, fallback, toField: (seconds) => seconds * 1000 });

/** A file system path. Relative paths are resolved against the working directory. */
export const tomlPath = z
  .string()
  .min(1)
  .transform((value) => resolve(value));
