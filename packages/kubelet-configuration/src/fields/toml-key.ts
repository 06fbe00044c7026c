/** The keys of Podwright's own configuration file (TOML) that set a field. */
import { resolve } from 'node:path';
import * as z from 'zod';

export type TomlKey<T> = {
  /** The dotted path of the key. */
  path: string;
  /** Decodes and checks the key. Absent if the program decodes the key elsewhere, because other components use it, too. */
  schema?: z.ZodType;
  /** Converts the decoded value to the value of the field. */
  toField: (decoded: never) => T;
};

/** Returns a key that the program decodes elsewhere. */
export const otherKey = (path: string): TomlKey<never> => ({ path, toField: (decoded) => decoded });

/** Returns a key of the table `[kubelet]`. Without `fallback`, the field is unset if the key is. */
export function kubeletKey<V>(name: string, schema: z.ZodType<V>, fallback?: V): TomlKey<V> {
  return convertedKey(name, { schema, fallback, toField: (decoded) => decoded });
}

/** Like `kubeletKey`, for a key whose values have to be converted to the field's. */
export function convertedKey<V, T>(
  name: string,
  { schema, fallback, toField }: { schema: z.ZodType<V>; fallback?: V; toField: (decoded: V) => T },
): TomlKey<T> {
  const filled = fallback === undefined ? schema.optional() : schema.default(fallback as never);
  return { path: `kubelet.${name}`, schema: filled, toField };
}

/** Returns a key in seconds for a field in milliseconds. */
export const secondsKey = (name: string, schema: z.ZodType<number>, fallback: number) =>
  convertedKey(name, { schema, fallback, toField: (seconds) => seconds * 1000 });

/** A path. Relative paths are resolved against the working directory. */
export const tomlPath = z
  .string()
  .min(1)
  .transform((value) => resolve(value));
