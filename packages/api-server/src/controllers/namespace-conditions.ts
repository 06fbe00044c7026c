/** The conditions of a namespace that is being deleted (upstream's namespace/deletion). */

import { timestamp } from '@podwright/api-machinery';
import { type ApiObject, type JsonObject, objectsAt, withValue } from '@podwright/kube-kinds';

/** What is left in a namespace after an attempt to delete its objects. */
export type NamespaceContent = {
  /** Number of remaining objects by resource (name in the store). Resources without objects are omitted. */
  objects: ReadonlyMap<string, number>;
  /** Number of remaining objects that have each finalizer. */
  finalizers: ReadonlyMap<string, number>;
  /** Messages of failed attempts to delete objects. */
  errors: readonly string[];
  /** Group versions of extension API servers whose resources are unknown because the server could not be queried. */
  undiscovered: readonly string[];
  /** Whether `objects` is complete. It is not if an extension API server could not be queried. */
  isComplete: boolean;
};

type Condition = { type: string; status: 'True' | 'False'; reason: string; message: string };

/** Returns the namespace with updated conditions. `lastTransitionTime` only changes along with a condition's status. */
export function withDeletionConditions(namespace: ApiObject, content: NamespaceContent, nowMs: number): ApiObject {
  const present = objectsAt(namespace, 'status', 'conditions');
  const changed = conditionsOf(content).map((condition) => {
    const old = present.find(({ type }) => type === condition.type);
    const isSame = old?.status === condition.status && old.lastTransitionTime !== undefined;
    return { ...condition, lastTransitionTime: isSame ? old.lastTransitionTime : timestamp(nowMs) } as JsonObject;
  });
  const others = present.filter(({ type }) => changed.every((one) => one.type !== type));
  return withValue(namespace, ['status', 'conditions'], [...others, ...changed]);
}

function conditionsOf({ objects, finalizers, errors, undiscovered }: NamespaceContent): Condition[] {
  const isEmpty = objects.size === 0;
  const resources = listed(objects, (name, count) => `${withGroup(name)} has ${count} resource instances`);
  const held = listed(finalizers, (name, count) => `${name} in ${count} resource instances`);
  const failed = `Failed to delete all resource types, ${errors.length} remaining: ${[...errors].sort().join(', ')}`;
  const removed = ['ContentRemoved', 'All content successfully removed'] as const;
  const finished = ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'] as const;
  const discovered = ['ResourcesDiscovered', 'All resources successfully discovered'] as const;
  const parsed = ['ParsedGroupVersions', 'All legacy kube types successfully parsed'] as const;
  const deleted = ['ContentDeleted', 'All content successfully deleted, may be waiting on finalization'] as const;
  return [
    undiscovered.length === 0
      ? condition('NamespaceDeletionDiscoveryFailure', false, discovered)
      : condition('NamespaceDeletionDiscoveryFailure', true, ['DiscoveryFailed', discoveryFailure(undiscovered)]),
    condition('NamespaceDeletionGroupVersionParsingFailure', false, parsed),
    errors.length === 0
      ? condition('NamespaceDeletionContentFailure', false, deleted)
      : condition('NamespaceDeletionContentFailure', true, ['ContentDeletionFailed', failed]),
    isEmpty
      ? condition('NamespaceContentRemaining', false, removed)
      : condition('NamespaceContentRemaining', true, [
          'SomeResourcesRemain',
          `Some resources are remaining: ${resources}`,
        ]),
    finalizers.size === 0
      ? condition('NamespaceFinalizersRemaining', false, finished)
      : condition('NamespaceFinalizersRemaining', true, [
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${held}`,
        ]),
  ];
}

/** Returns the message for group versions whose resources are unknown, in the words of upstream's discovery client. */
function discoveryFailure(versions: readonly string[]): string {
  const causes = versions.map((one) => `${one}: stale GroupVersion discovery: ${one}`).join(', ');
  return `Discovery failed for some groups, ${versions.length} failing: unable to retrieve the complete list of server APIs: ${causes}`;
}

const condition = (type: string, is: boolean, [reason, message]: readonly [string, string]): Condition => ({
  type,
  status: is ? 'True' : 'False',
  reason,
  message,
});

const listed = (counts: ReadonlyMap<string, number>, show: (name: string, count: number) => string): string =>
  [...counts]
    .map(([name, count]) => show(name, count))
    .sort()
    .join(', ');

/** Returns the store name of a resource as upstream prints it: with a trailing dot if it is in the core group. */
const withGroup = (name: string): string => (name.includes('.') ? name : `${name}.`);
