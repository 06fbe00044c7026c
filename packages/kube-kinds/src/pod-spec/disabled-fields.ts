/**
 * Fields of features disabled by default in Kubernetes 1.36. Like upstream, removes them from new objects, but keeps them in objects that
 * already have them (DropDisabledPodFields). `lifecycle.stopSignal` is another such field, but it is always kept because Podwright's nodes
 * support it.
 */
import { type JsonObject, objectsAt, valueAt, withItems } from '../values.ts';

const PROJECTIONS = ['clusterTrustBundle', 'podCertificate'];

/** Returns the spec without disabled fields, except for those already used in `old`, the stored object's spec. */
export function withoutDisabledFields(spec: JsonObject, old: JsonObject | undefined): JsonObject {
  let result = spec;
  if (valueAt(spec, 'schedulingGroup') !== undefined && valueAt(old, 'schedulingGroup') === undefined) {
    const { schedulingGroup: _, ...others } = result;
    result = others;
  }
  const disabled = PROJECTIONS.filter((name) => hasProjection(spec, name) && !hasProjection(old, name));
  if (disabled.length === 0) return result;
  return withItems(result, ['volumes'], (volume) =>
    withItems(volume, ['projected', 'sources'], (source) =>
      Object.fromEntries(Object.entries(source).filter(([name]) => !disabled.includes(name))),
    ),
  );
}

const hasProjection = (spec: JsonObject | undefined, name: string): boolean =>
  objectsAt(spec, 'volumes').some((volume) =>
    objectsAt(volume, 'projected', 'sources').some((source) => valueAt(source, name) !== undefined),
  );
