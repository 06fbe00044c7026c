import type { ConfigurableOptions } from './configurable-options.ts';

/** The paths of a type's properties, such as `port`, `tls` and `tls.certFile`. */
type PathIn<T> = T extends readonly unknown[]
  ? never
  : T extends object
    ? { [K in keyof T & string]-?: K | `${K}.${PathIn<T[K]>}` }[keyof T & string]
    : never;

type ValueAt<T, P extends string> = P extends `${infer K}.${infer Rest}`
  ? ValueAt<T[K & keyof T], Rest>
  : T[P & keyof T];

/** The path of a kubelet option, such as `maxPods` or `server.tls.certFile`. */
export type OptionPath = PathIn<ConfigurableOptions>;
export type OptionAt<P extends OptionPath> = ValueAt<ConfigurableOptions, P>;

/** Returns a copy of the options with the option at `path` changed. */
export function withOption<P extends OptionPath>(
  options: ConfigurableOptions,
  path: P,
  change: (before: OptionAt<P>) => OptionAt<P>,
): ConfigurableOptions {
  const changed = (table: object, [key, ...rest]: string[]): object => {
    const before = (table as Record<string, unknown>)[key!];
    const after = rest.length === 0 ? change(before as OptionAt<P>) : changed(before as object, rest);
    return { ...table, [key!]: after };
  };
  return changed(options, path.split('.')) as ConfigurableOptions;
}
