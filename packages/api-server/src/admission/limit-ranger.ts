import { type AdmissionAttributes, groupResource, type ObjectStore } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import { aggregated } from '../authorization/go-text.ts';
import { type AdmissionPlugin, isWriteOf, type ObjectAttributes, rejected } from './admission-plugin.ts';
import { claimProblems, podProblems } from './limit-constraints.ts';
import { withDefaultLimits } from './limit-defaults.ts';

/** Applies a namespace's LimitRanges: defaults and constraints for the resources of containers, pods and claims. */
export class LimitRanger implements AdmissionPlugin {
  readonly name = 'LimitRanger';
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  mutate(attributes: ObjectAttributes): ApiObject {
    if (!isLimitedPod(attributes)) return attributes.object;
    return this.#rangesOf(attributes).reduce(withDefaultLimits, attributes.object);
  }

  validate(attributes: AdmissionAttributes): void {
    const isClaim = isWriteOf(attributes, 'persistentvolumeclaims', 'CREATE', 'UPDATE');
    if (!isClaim && !isLimitedPod(attributes)) return;
    for (const range of this.#rangesOf(attributes)) {
      const problems = (isClaim ? claimProblems : podProblems)(range, attributes.object!);
      if (problems.length > 0) throw rejected(attributes, aggregated(problems));
    }
  }

  /** Returns the namespace's LimitRanges; none for an object that is being deleted, so that its finalizers can always be removed. */
  #rangesOf({ namespace, oldObject }: AdmissionAttributes): ApiObject[] {
    if (oldObject?.metadata.deletionTimestamp !== undefined) return [];
    return this.#store.list('limitranges', { namespace }).objects.map((range) => range.decode());
  }
}

/** Whether the request sets a pod's resources, which it does if it creates or resizes a pod. */
function isLimitedPod({ resource, subresource, operation }: AdmissionAttributes): boolean {
  if (groupResource(resource) !== 'pods') return false;
  return subresource === '' ? operation === 'CREATE' : subresource === 'resize' && operation === 'UPDATE';
}
