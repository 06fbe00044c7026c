import type { KubeletConfiguration } from '@podwright/kubelet-configuration';

/** A setter per field. Each gets the options as changed by the setters before it. */
export type FieldSetters<Options> = Partial<
  Record<keyof KubeletConfiguration, (options: Options, configuration: KubeletConfiguration) => Partial<Options>>
>;

/** A configuration, and the fields of it to apply. */
export type WantedFields = { configuration: KubeletConfiguration; isWanted: (field: string) => boolean };

/** Applies the wanted fields to the options, in the order of the setters. */
export function withFields<Options extends object>(
  options: Options,
  setters: FieldSetters<Options>,
  { configuration, isWanted }: WantedFields,
): Options {
  const applied = { ...options };
  for (const [field, set] of Object.entries(setters))
    if (isWanted(field)) Object.assign(applied, set(applied, configuration));
  return applied;
}
