import { PodwrightError } from '@podwright/base';
import { pluginName } from './plugin.ts';

/** The fields of a plugin that ordering needs. */
export type Requiring = { readonly type: string; readonly id: string; readonly requires: readonly string[] };

/**
 * Sorts plugins so that each one comes after all that it requires, and otherwise keeps their order. `invalid_argument` for a
 * duplicate name, a missing requirement, or a cycle of requirements; the last two name the path of requirements.
 */
export function orderPlugins<P extends Requiring>(plugins: readonly P[]): P[] {
  checkUnique(plugins);
  const ordered = new Set<P>();
  const visit = (plugin: P, path: P[]) => {
    if (ordered.has(plugin)) return;
    if (path.includes(plugin)) throw cycle([...path.slice(path.indexOf(plugin)), plugin]);
    for (const requirement of plugin.requires) {
      const required = meetsRequirement(plugins, requirement);
      if (required.length === 0 && requirement.includes('/')) throw missing([...path, plugin], requirement, plugins);
      for (const next of required) visit(next, [...path, plugin]);
    }
    ordered.add(plugin);
  };
  for (const plugin of plugins) visit(plugin, []);
  return [...ordered];
}

/** The plugins that match a requirement: one for `type/id`, or all plugins of a type, possibly none. */
export function meetsRequirement<P extends Requiring>(plugins: readonly P[], requirement: string): P[] {
  return plugins.filter((plugin) => plugin.type === requirement || pluginName(plugin) === requirement);
}

function checkUnique(plugins: readonly Requiring[]): void {
  const names = new Set<string>();
  for (const name of plugins.map(pluginName)) {
    if (names.has(name)) {
      throw new PodwrightError('invalid_argument', `order plugins: there are two ${name}; give one another id`);
    }
    names.add(name);
  }
}

function cycle(path: Requiring[]): PodwrightError {
  return new PodwrightError(
    'invalid_argument',
    `order plugins: they require each other in a cycle: ${path.map(pluginName).join(' → ')}`,
  );
}

function missing(path: Requiring[], requirement: string, plugins: readonly Requiring[]): PodwrightError {
  const type = requirement.slice(0, requirement.indexOf('/'));
  const alike = plugins.filter((plugin) => plugin.type === type).map(pluginName);
  return new PodwrightError(
    'invalid_argument',
    `order plugins: ${[...path.map(pluginName), requirement].join(' → ')}: there is no ${requirement}${
      alike.length === 0 ? '' : `; there is ${alike.join(', ')}`
    }`,
  );
}
