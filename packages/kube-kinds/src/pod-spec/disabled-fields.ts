/**
 * Fields of features that Kubernetes 1.36 disables by default: upstream removes them from new objects, and retains them in objects that
 * have them already (DropDisabledPodFields). `lifecycle.stopSignal` is such a field too, but the nodes here act upon it.
 */
import { type JsonObject, objectsAt, valueAt, withItems } from '../values.ts';

const PROJECTIONS = ['clusterTrustBundle', 'podCertificate'];

/** The spec without disabled fields. `old` is the spec of the stored object. */
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
