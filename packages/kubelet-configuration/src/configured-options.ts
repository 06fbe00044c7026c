import { COMPOSED_OPTIONS } from './composed-options.ts';
import { FIELDS, type FieldName, type KubeletConfiguration } from './fields/field-table.ts';
import type { ConfigurableOptions } from './options/configurable-options.ts';

/**
 * Returns the options after applying the fields for which `isWanted` is true: first the rows of the field table, in table order, then the
 * composed options.
 */
export function configuredOptions(
  options: ConfigurableOptions,
  configuration: KubeletConfiguration,
  isWanted: (field: string) => boolean,
): ConfigurableOptions {
  let changed = options;
  for (const [name, { effect }] of FIELDS)
    if (effect.kind === 'sets' && isWanted(name)) changed = effect.apply(changed, configuration[name as FieldName]);
  for (const { fields, set } of COMPOSED_OPTIONS)
    if (fields.some(isWanted)) changed = { ...changed, ...set(changed, configuration) };
  return changed;
}
