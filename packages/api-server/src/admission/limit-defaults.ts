import {
  type ApiObject,
  type JsonObject,
  objectAt,
  objectsAt,
  textAt,
  withItems,
  withValue,
} from '@podwright/kube-kinds';

const ANNOTATION = 'kubernetes.io/limit-ranger';

type Defaults = { requests: JsonObject; limits: JsonObject };

/** Returns the pod with the LimitRange's defaults applied, and with an annotation that lists them. */
export function withDefaultLimits(pod: ApiObject, range: ApiObject): ApiObject {
  const defaults = defaultsOf(range);
  const changes: string[] = [];
  const merge = (title: string) => (container: JsonObject) => {
    const name = `${title} ${textAt(container, 'name')}`;
    for (const kind of ['requests', 'limits'] as const) {
      const names = missingIn(container, kind, defaults).sort();
      if (names.length > 0) changes.push(`${names.join(', ')} ${kind.slice(0, -1)} for ${name}`);
    }
    return withMissing(container, defaults);
  };
  const merged = withItems(
    withItems(pod, ['spec', 'containers'], merge('container')),
    ['spec', 'initContainers'],
    merge('init container'),
  );
  if (changes.length === 0) return pod;
  return withValue(merged, ['metadata', 'annotations', ANNOTATION], `LimitRanger plugin set: ${changes.join('; ')}`);
}

function defaultsOf(range: ApiObject): Defaults {
  const limits = objectsAt(range, 'spec', 'limits').filter((limit) => textAt(limit, 'type') === 'Container');
  const merged = (field: string): JsonObject => Object.assign({}, ...limits.map((limit) => objectAt(limit, field)));
  return { requests: merged('defaultRequest'), limits: merged('default') };
}

function missingIn(container: JsonObject, kind: keyof Defaults, defaults: Defaults): string[] {
  const present = objectAt(container, 'resources', kind) ?? {};
  return Object.keys(defaults[kind]).filter((name) => !Object.hasOwn(present, name));
}

function withMissing(container: JsonObject, defaults: Defaults): JsonObject {
  return (['requests', 'limits'] as const).reduce((one, kind) => {
    const missing = missingIn(one, kind, defaults);
    if (missing.length === 0) return one;
    const added = Object.fromEntries(missing.map((name) => [name, defaults[kind][name]]));
    return withValue(one, ['resources', kind], { ...objectAt(one, 'resources', kind), ...added });
  }, container);
}
