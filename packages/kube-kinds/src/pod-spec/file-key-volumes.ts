import type { Field } from '../field.ts';
import { type JsonObject, objectAt, objectsAt, textAt } from '../values.ts';
import { containersOf } from './visit-containers.ts';

/** Requires environment variables from files to refer to an emptyDir volume (validateFileKeyRefVolumes). `field` refers to the pod spec. */
export function validateFileKeyVolumes(spec: JsonObject, field: Field): void {
  const volumes = new Map(objectsAt(spec, 'volumes').map((volume) => [textAt(volume, 'name'), volume]));
  for (const { container, list, index } of containersOf(spec))
    for (const [envIndex, variable] of objectsAt(container, 'env').entries()) {
      const ref = objectAt(variable, 'valueFrom', 'fileKeyRef');
      if (ref === undefined) continue;
      const name = textAt(ref, 'volumeName');
      const at = field.at(list, index, 'env', envIndex, 'valueFrom', 'fileKeyRef', 'volumeName');
      const volume = volumes.get(name);
      if (volume === undefined) at.notFound(name);
      else if (objectAt(volume, 'emptyDir') === undefined)
        at.invalid(name, 'referenced volume must be of type emptyDir');
    }
}
