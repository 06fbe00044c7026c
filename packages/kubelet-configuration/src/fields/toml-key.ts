/** Keys of Podwright's own configuration file (TOML) that set a field. */
import { resolve } from 'node:path';
import * as z from 'zod';

export type TomlKey<T> = {
  /** The key's dotted path. */
  path: string;
  /** Decodes and checks the config key's value. Absent if the program decodes the key elsewhere because other components also use it. */
  schema?: z.ZodType;
  /** Converts the decoded value to the field's value. */
  toField: (decoded: never) => T;
};

/** Returns a key of the configuration file for which this package has no schema: the program that reads the file decodes its value. */
export const otherKey = (path: string): TomlKey<never> => ({ path, toField: (decoded) => decoded });

/** Returns a config key in the `[kubelet]` table. Without `fallback`, the field is unset if the key is unset. */
export function kubeletKey<V>(name: string, schema: z.ZodType<V>, fallback?: V): TomlKey<V> {
  return convertedKey(name, { schema, fallback, toField: (decoded) => decoded });
}

/**
 * Returns a config key in the `[kubelet]` table whose value is converted to the field's type or unit by `toField`. Without `fallback`, the
 * field is unset if the key is unset.
 */
export function convertedKey<V, T>(
  name: string,
  { schema, fallback, toField }: { schema: z.ZodType<V>; fallback?: V; toField: (decoded: V) => T },
): TomlKey<T> {
  const filled = fallback === undefined ? schema.optional() : schema.default(fallback as never);
  return { path: `kubelet.${name}`, schema: filled, toField };
}

/** Returns a config key whose value is in seconds, for a field that is stored in milliseconds. */
export const secondsKey = (name: string, schema: z.ZodType<number>, fallback: number) =>
  convertedKey(name, { schema, fallback, toField: (seconds) => seconds * 1000 });

/** A file system path. Relative paths are resolved against the working directory. */
export const tomlPath = z
  .string()
  .min(1)
  .transform((value) => resolve(value));
