import { PodwrightError } from '@podwright/base';
import { pluginName } from './plugin.ts';

/** What ordering looks at. */
export type Requiring = { readonly type: string; readonly id: string; readonly requires: readonly string[] };

/**
 * The plugins in an order in which each comes after all that it requires; among those that could come next, the given order
 * stays. Errors (`invalid_argument`): a name that is given twice, a requirement that there is not, plugins that require each
 * other in a circle; the last two with the way that leads there.
 */
export function orderPlugins<P extends Requiring>(plugins: readonly P[]): P[] {
  checkUnique(plugins);
  const ordered = new Set<P>();
  const visit = (plugin: P, way: P[]) => {
    if (ordered.has(plugin)) return;
    if (way.includes(plugin)) throw circle([...way.slice(way.indexOf(plugin)), plugin]);
    for (const requirement of plugin.requires) {
      const required = meetsRequirement(plugins, requirement);
      if (required.length === 0 && requirement.includes('/')) throw missing([...way, plugin], requirement, plugins);
      for (const next of required) visit(next, [...way, plugin]);
    }
    ordered.add(plugin);
  };
  for (const plugin of plugins) visit(plugin, []);
  return [...ordered];
}

/** The plugins that a requirement means: one by `type/id`, or all of a type; a type may have none. */
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

function circle(way: Requiring[]): PodwrightError {
  return new PodwrightError(
    'invalid_argument',
    `order plugins: they require each other in a circle: ${way.map(pluginName).join(' → ')}`,
  );
}

function missing(way: Requiring[], requirement: string, plugins: readonly Requiring[]): PodwrightError {
  const type = requirement.slice(0, requirement.indexOf('/'));
  const alike = plugins.filter((plugin) => plugin.type === type).map(pluginName);
  return new PodwrightError(
    'invalid_argument',
    `order plugins: ${[...way.map(pluginName), requirement].join(' → ')}: there is no ${requirement}${
      alike.length === 0 ? '' : `; there is ${alike.join(', ')}`
    }`,
  );
}
