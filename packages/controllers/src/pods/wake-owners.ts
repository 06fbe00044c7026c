import { type KubeObject, type LabelSelector, matchesLabelSelector, type Resource } from '@podwright/kube-api';
import type { ObjectCache, ObjectChange } from '../framework/object-cache.ts';
import { placeText } from '../framework/object-place.ts';
import { controllerOf, isOfKind } from './controller-reference.ts';

export type WakeOptions<O extends KubeObject, T extends KubeObject> = {
  /** The resource of the owners, such as ReplicaSets. */
  ownedBy: Resource;
  owners: ObjectCache<O>;
  owned: ObjectCache<T>;
  selectorOf: (owner: O) => LabelSelector | undefined;
  /** Queues the owner with this key (`placeText`). */
  wake: (key: string) => void;
};

/**
 * Calls `wake` for each owner that changes, for the owners of a changed object before and after the change, and for owners that could adopt
 * a changed object without a controller.
 */
export function wakeOwners<O extends KubeObject, T extends KubeObject>(options: WakeOptions<O, T>): void {
  const { owners, owned, wake } = options;
  owners.onChange(({ object: { metadata } }) =>
    wake(placeText({ namespace: metadata.namespace, name: metadata.name! })),
  );
  owned.onChange((change) => {
    for (const key of ownersOf(options, change)) wake(key);
  });
}

function ownersOf<O extends KubeObject, T extends KubeObject>(
  { ownedBy, owners, selectorOf }: WakeOptions<O, T>,
  { type, object, before }: ObjectChange<T>,
): Set<string> {
  const { namespace, labels, deletionTimestamp } = object.metadata;
  const keys = new Set<string>();
  for (const one of before === undefined ? [object] : [before, object]) {
    const controller = controllerOf(one);
    if (controller !== undefined && isOfKind(controller, ownedBy))
      keys.add(placeText({ namespace, name: controller.name }));
  }
  const isOrphan = type !== 'DELETED' && deletionTimestamp === undefined && controllerOf(object) === undefined;
  if (!isOrphan) return keys;
  for (const owner of owners.list(namespace)) {
    const selector = selectorOf(owner);
    if (!isEmpty(selector) && matchesLabelSelector(selector, labels))
      keys.add(placeText({ namespace, name: owner.metadata.name! }));
  }
  return keys;
}

/** Whether the owner's selector matches everything, in which case the owner adopts nothing. */
function isEmpty({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}
