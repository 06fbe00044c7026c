import type { KubeletConfiguration } from '@podwright/kubelet-configuration';

/** How fields set options: each gets those that the fields before it have made. */
export type FieldSetters<Options> = Partial<
  Record<keyof KubeletConfiguration, (options: Options, configuration: KubeletConfiguration) => Partial<Options>>
>;

/** Fields of a configuration, of which only some are wanted. */
export type WantedFields = { configuration: KubeletConfiguration; isWanted: (field: string) => boolean };

/** Options with the wanted fields laid over them, in the order of the setters. */
export function withFields<Options extends object>(
  options: Options,
  setters: FieldSetters<Options>,
  { configuration, isWanted }: WantedFields,
): Options {
  const laid = { ...options };
  for (const [field, set] of Object.entries(setters))
    if (isWanted(field)) Object.assign(laid, set(laid, configuration));
  return laid;
}
