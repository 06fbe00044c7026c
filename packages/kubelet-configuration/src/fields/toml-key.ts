/** The keys of Podwright's own configuration file (TOML) that set a field. */
import { resolve } from 'node:path';
import * as z from 'zod';

export type TomlKey<T> = {
  /** The dotted path of the key. */
  path: string;
  /** Decodes and checks the key; absent for a key that is decoded elsewhere, since it is not the kubelet's alone. */
  schema?: z.ZodType;
  /** Converts the decoded value to a value of the field. */
  toField: (decoded: never) => T;
};

/** A key that the program decodes elsewhere. */
export const otherKey = (path: string): TomlKey<never> => ({ path, toField: (decoded) => decoded });

/** A key of the table `[kubelet]`. Without `fallback`, the field is unset if the key is. */
export function kubeletKey<V>(name: string, schema: z.ZodType<V>, fallback?: V): TomlKey<V> {
  return convertedKey(name, { schema, fallback, toField: (decoded) => decoded });
}

/** Like `kubeletKey`, for a value that differs from the field's. */
export function convertedKey<V, T>(
  name: string,
  { schema, fallback, toField }: { schema: z.ZodType<V>; fallback?: V; toField: (decoded: V) => T },
): TomlKey<T> {
  const filled = fallback === undefined ? schema.optional() : schema.default(fallback as never);
  return { path: `kubelet.${name}`, schema: filled, toField };
}

/** A key in seconds for a field in milliseconds. */
export const secondsKey = (name: string, schema: z.ZodType<number>, fallback: number) =>
  convertedKey(name, { schema, fallback, toField: (seconds) => seconds * 1000 });

/** A path. A relative one is resolved against the working directory. */
export const tomlPath = z
  .string()
  .min(1)
  .transform((value) => resolve(value));
