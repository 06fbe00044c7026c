/** Deletes the contents of namespaces that are being deleted, and then lets the namespaces be removed. */

import { ApiError } from '@podwright/api-machinery';
import { EventLoopBudget, errorMessage, pause } from '@podwright/base';
import { type ApiObject, textsAt, withValue } from '@podwright/kube-kinds';
import type { ControllerParts } from './controller-parts.ts';
import { followResource } from './follow-resource.ts';
import { type NamespaceContent, withDeletionConditions } from './namespace-conditions.ts';

export type DeletionParts = ControllerParts & {
  /** Store names of all namespaced resources. */
  namespaced: () => readonly string[];
  /** Deletes the objects of a namespace on extension API servers. Default: there are none. */
  deleteElsewhere?: (namespace: string, signal: AbortSignal) => Promise<ElsewhereContent | undefined>;
};

/** Objects of a namespace that are left on extension API servers after an attempt to delete them. */
type ElsewhereContent = {
  objects: ReadonlyMap<string, number>;
  /** Group versions whose resources are unknown because their server could not be queried. */
  undiscovered: readonly string[];
  errors: readonly string[];
};

const FINALIZER = 'kubernetes';
/** Delay after the first attempt to delete a namespace's contents. Objects with grace periods or finalizers take a while to disappear. */
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 5000;

export async function deleteNamespaces(parts: DeletionParts): Promise<void> {
  const active = new Set<string>();
  const begin = (object: ApiObject) => {
    const { name = '', deletionTimestamp } = object.metadata;
    if (deletionTimestamp === undefined || active.has(name)) return;
    active.add(name);
    void emptyNamespace(parts, name).finally(() => active.delete(name));
  };
  await followResource(
    'namespaces',
    {
      listed: (objects) => objects.forEach((object) => void begin(object.decode())),
      changed: ({ type, object }) => {
        if (type !== 'DELETED') begin(object.decode());
      },
    },
    parts,
  );
}

/** Deletes a namespace's contents until the namespace can be removed, with retries. Never rejects. */
async function emptyNamespace(parts: DeletionParts, name: string): Promise<void> {
  const { logger, signal } = parts;
  const failed = (error: string) =>
    logger.warn({ namespace: name, error }, 'delete the objects of a namespace failed, trying again');
  let waitMs = FIRST_WAIT_MS;
  while (!signal.aborted && isTerminating(parts, name)) {
    try {
      const content = await deleteContent(parts, name);
      if (content.objects.size === 0 && content.isComplete) return await finalize(parts, name);
      if (content.errors.length > 0) failed(content.errors.join('; '));
      await report(parts, name, content);
    } catch (error) {
      failed(errorMessage(error));
    }
    await pause(waitMs, signal);
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
  }
}

/**
 * Deletes what can be deleted: first the pods, and everything else once there are none left, because pods must not run without the policies
 * and configuration they were created with (KEP-5080). Returns what remains.
 */
async function deleteContent(parts: DeletionParts, namespace: string): Promise<NamespaceContent> {
  const isPods = (resource: string) => resource === 'pods';
  const pods = await deleteResources(parts, parts.namespaced().filter(isPods), namespace);
  if (pods.objects.size > 0) return pods;
  const others = parts.namespaced().filter((resource) => !isPods(resource));
  const own = await deleteResources(parts, others, namespace);
  const elsewhere = await parts.deleteElsewhere?.(namespace, parts.signal);
  if (elsewhere === undefined) return own;
  return {
    ...own,
    objects: new Map([...own.objects, ...elsewhere.objects]),
    errors: [...own.errors, ...elsewhere.errors],
    undiscovered: elsewhere.undiscovered,
    isComplete: elsewhere.errors.length === 0 && elsewhere.undiscovered.length === 0,
  };
}

async function deleteResources(
  parts: DeletionParts,
  resources: readonly string[],
  namespace: string,
): Promise<NamespaceContent> {
  const errors: string[] = [];
  const objects = new Map<string, number>();
  const finalizers = new Map<string, number>();
  for (const resource of resources)
    await deleteAll(parts, resource, namespace).catch((error: unknown) => errors.push(errorMessage(error)));
  for (const resource of resources) {
    const remaining = parts.store.list(resource, { namespace }).objects;
    if (remaining.length > 0) objects.set(resource, remaining.length);
    for (const object of remaining)
      for (const finalizer of object.decode().metadata.finalizers ?? [])
        finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
  }
  return { objects, finalizers, errors, undiscovered: [], isComplete: true };
}

async function report({ registryOf, context }: DeletionParts, name: string, content: NamespaceContent): Promise<void> {
  const status = context('status');
  const next = (object: ApiObject) => withDeletionConditions(object, content, status.nowMs);
  await registryOf('namespaces').change({ namespace: '', name }, next, status);
}

function isTerminating({ store }: DeletionParts, name: string): boolean {
  const namespace = store.get({ resource: 'namespaces', namespace: '', name })?.decode();
  return (
    namespace?.metadata.deletionTimestamp !== undefined && textsAt(namespace, 'spec', 'finalizers').includes(FINALIZER)
  );
}

/** Deletes the namespace's objects of a resource that are not being deleted yet, with background propagation. */
async function deleteAll({ store, registryOf, context }: DeletionParts, resource: string, namespace: string) {
  const budget = new EventLoopBudget();
  for (const object of store.list(resource, { namespace }).objects) {
    if (budget.isSpent) await budget.renew();
    const { name = '', deletionTimestamp } = object.decode().metadata;
    if (deletionTimestamp !== undefined) continue;
    try {
      await registryOf(resource).delete({ namespace, name }, { propagationPolicy: 'Background' }, context());
    } catch (error) {
      if (!(error instanceof ApiError) || error.status.code !== 404) throw error;
    }
  }
}

async function finalize({ registryOf, context }: DeletionParts, name: string): Promise<void> {
  const without = (object: ApiObject) => {
    const others = textsAt(object, 'spec', 'finalizers').filter((one) => one !== FINALIZER);
    return withValue(object, ['spec', 'finalizers'], others);
  };
  await registryOf('namespaces').change({ namespace: '', name }, without, context('finalize'));
}
