import { PodwrightError } from '@podwright/base';

/** `index`: two digits; plugins receive events in ascending order. `base`: the rest of the full name. */
export type PluginName = { index: string; base: string };

/** Returns a plugin's full name, such as `10-balloons`, which is also used for the owners of fields. */
export const fullName = ({ index, base }: PluginName): string => `${index}-${base}`;

/** Throws `invalid_argument` if the name or the index is malformed. */
export function checkPluginName({ index, base }: PluginName): PluginName {
  if (!/^[0-9]{2}$/.test(index))
    throw new PodwrightError('invalid_argument', `plugin index ${JSON.stringify(index)} is not two digits`);
  if (!/^[a-zA-Z0-9_.+-]+$/.test(base))
    throw new PodwrightError('invalid_argument', `plugin name ${JSON.stringify(base)} is malformed`);
  return { index, base };
}

/** Parses the file name of a pre-installed plugin, such as `10-balloons`. */
export function parsePluginFile(file: string): PluginName {
  const dash = file.indexOf('-');
  return checkPluginName({ index: file.slice(0, Math.max(dash, 0)), base: file.slice(dash + 1) });
}
