import type { AdmissionAttributes, ObjectStore } from '@podwright/api-machinery';
import {
  type ApiObject,
  type JsonObject,
  objectAt,
  objectsAt,
  textAt,
  valueAt,
  withValue,
} from '@podwright/kube-kinds';
import { type AdmissionPlugin, isWriteOf, type ObjectAttributes, rejected } from './admission-plugin.ts';
import { hasSameAmounts } from './resources/resource-amounts.ts';
import { mergedTolerations } from './tolerations.ts';

const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const UNDEFINED = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';

/** Sets the pod overhead, node selector and tolerations defined by a pod's RuntimeClass. */
export class RuntimeClassAdmission implements AdmissionPlugin {
  readonly name = 'RuntimeClass';
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  mutate(attributes: ObjectAttributes): ApiObject {
    if (!isWriteOf(attributes, 'pods', 'CREATE')) return attributes.object;
    const runtimeClass = this.#classOf(attributes);
    return withScheduling(attributes, withOverhead(attributes, runtimeClass), objectAt(runtimeClass, 'scheduling'));
  }

  validate(attributes: AdmissionAttributes): void {
    if (!isWriteOf(attributes, 'pods', 'CREATE')) return;
    const given = objectAt(attributes.object, 'spec', 'overhead');
    const overhead = objectAt(this.#classOf(attributes), 'overhead');
    if (overhead === undefined && given !== undefined) throw rejected(attributes, UNDEFINED);
    if (overhead !== undefined && !hasSameAmounts(objectAt(overhead, 'podFixed'), given))
      throw rejected(attributes, MISMATCH);
  }

  #classOf(attributes: AdmissionAttributes): ApiObject | undefined {
    const name = valueAt(attributes.object, 'spec', 'runtimeClassName');
    if (typeof name !== 'string') return undefined;
    const found = this.#store.get({ resource: 'runtimeclasses.node.k8s.io', namespace: '', name })?.decode();
    if (found === undefined) throw rejected(attributes, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
    return found;
  }
}

function withOverhead(attributes: ObjectAttributes, runtimeClass: ApiObject | undefined): ApiObject {
  const { object } = attributes;
  const overhead = objectAt(runtimeClass, 'overhead', 'podFixed');
  if (overhead === undefined) return object;
  const given = objectAt(object, 'spec', 'overhead');
  const isGiven = given !== undefined && Object.keys(given).length > 0;
  if (isGiven && !hasSameAmounts(overhead, given)) throw rejected(attributes, MISMATCH);
  return withValue(object, ['spec', 'overhead'], overhead);
}

/**
 * Adds the node selector and tolerations from a RuntimeClass's `scheduling` to the pod. `pod`: the pod as mutated so far. `attributes`: for
 * error messages.
 */
function withScheduling(attributes: ObjectAttributes, pod: ApiObject, scheduling: JsonObject | undefined): ApiObject {
  if (scheduling === undefined) return pod;
  const required = objectAt(scheduling, 'nodeSelector') ?? {};
  const selector = objectAt(pod, 'spec', 'nodeSelector') ?? {};
  const conflict = Object.keys(required).find((key) => Object.hasOwn(selector, key) && selector[key] !== required[key]);
  if (conflict !== undefined)
    throw rejected(
      attributes,
      `conflict: runtimeClass.scheduling.nodeSelector[${conflict}] = ${textAt(required, conflict)}; pod.spec.nodeSelector[${conflict}] = ${textAt(selector, conflict)}`,
    );
  const merged = { ...selector, ...required };
  const selected = Object.keys(merged).length === 0 ? pod : withValue(pod, ['spec', 'nodeSelector'], merged);
  const tolerations = mergedTolerations(objectsAt(pod, 'spec', 'tolerations'), objectsAt(scheduling, 'tolerations'));
  return tolerations.length === 0 ? selected : withValue(selected, ['spec', 'tolerations'], tolerations);
}
