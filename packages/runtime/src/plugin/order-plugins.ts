import { orderGraph } from '@podwright/base';
import { pluginName } from './plugin.ts';

/** The fields of a plugin that ordering needs. */
export type Requiring = { readonly type: string; readonly id: string; readonly requires: readonly string[] };

/** Sorts plugins so that each one comes after all plugins that it requires. Errors: those of `orderGraph`. */
export function orderPlugins<P extends Requiring>(plugins: readonly P[]): P[] {
  return orderGraph(plugins, {
    attempt: 'order plugins',
    nameOf: pluginName,
    requirementsOf: ({ requires }) => requires,
    meeting: (requirement) => meetsRequirement(plugins, requirement),
    isOptional: (requirement) => !requirement.includes('/'),
  });
}

/** The plugins that match a requirement: one for `type/id`, or all plugins of a type, possibly none. */
export function meetsRequirement<P extends Requiring>(plugins: readonly P[], requirement: string): P[] {
  return plugins.filter((plugin) => plugin.type === requirement || pluginName(plugin) === requirement);
}
