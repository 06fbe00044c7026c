/** CPU and memory amounts: the resources that a pod resize can change. */
import type { ApiObject } from '../api-object.ts';
import { type JsonObject, objectAt, valueAt, withItems, withValue } from '../values.ts';

const LISTS = ['containers', 'initContainers'];
const RESIZABLE = ['cpu', 'memory'];

/** Returns the resources without CPU and memory. */
export function withoutResizable(resources: JsonObject): JsonObject {
  let result = resources;
  for (const kind of ['requests', 'limits']) {
    const others = Object.entries(objectAt(resources, kind) ?? {}).filter(([name]) => !RESIZABLE.includes(name));
    result = withValue(result, [kind], others.length === 0 ? undefined : Object.fromEntries(others));
  }
  return result;
}

/** Returns the new spec with the old amounts of CPU and memory. All other resources, such as claims, come from the new spec. */
export function withOldResources(pod: ApiObject, old: ApiObject): JsonObject {
  let spec = objectAt(pod, 'spec') ?? {};
  for (const list of LISTS)
    spec = withItems(spec, [list], (container, index) => {
      const before = objectAt(old, 'spec', list, index, 'resources');
      return withAmounts(container, before);
    });
  return withAmounts(spec, objectAt(old, 'spec', 'resources'));
}

function withAmounts(holder: JsonObject, before: JsonObject | undefined): JsonObject {
  const resources = objectAt(holder, 'resources');
  if (resources === undefined) return before === undefined ? holder : { ...holder, resources: before };
  let result = withoutResizable(resources);
  for (const kind of ['requests', 'limits'])
    for (const name of RESIZABLE) {
      const amount = valueAt(before, kind, name);
      if (amount !== undefined) result = withValue(result, [kind, name], amount);
    }
  const isEmpty = Object.keys(result).length === 0 && before === undefined;
  return isEmpty ? withValue(holder, ['resources'], undefined) : { ...holder, resources: result };
}
