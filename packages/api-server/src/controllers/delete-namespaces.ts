/** Deletes the objects of namespaces that are being deleted, and then lets the namespaces be removed. */

import { ApiError } from '@podwright/api-machinery';
import { errorMessage, pause } from '@podwright/base';
import { type ApiObject, textsAt, withValue } from '@podwright/kube-kinds';
import type { ControllerParts } from './controller-parts.ts';
import { followResource } from './follow-resource.ts';

export type DeletionParts = ControllerParts & {
  /** The names in the store of all resources with namespaces. */
  namespaced: readonly string[];
};

const FINALIZER = 'kubernetes';
/** Objects with grace periods and finalizers remain for some time; the waits between two attempts. */
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

/** Tries until the namespace is removed. Never rejects. */
async function emptyNamespace(parts: DeletionParts, name: string): Promise<void> {
  const { store, logger, signal } = parts;
  let waitMs = FIRST_WAIT_MS;
  while (!signal.aborted && isTerminating(parts, name)) {
    try {
      for (const resource of parts.namespaced) await deleteAll(parts, resource, name);
      const remaining = parts.namespaced.filter(
        (one) => store.list(one, { namespace: name, limit: 1 }).objects.length > 0,
      );
      if (remaining.length === 0) return await finalize(parts, name);
    } catch (error) {
      logger.warn(
        { namespace: name, error: errorMessage(error) },
        'delete the objects of a namespace failed, trying again',
      );
    }
    await pause(waitMs, signal);
    waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
  }
}

function isTerminating({ store }: DeletionParts, name: string): boolean {
  const namespace = store.get({ resource: 'namespaces', namespace: '', name })?.decode();
  return (
    namespace?.metadata.deletionTimestamp !== undefined && textsAt(namespace, 'spec', 'finalizers').includes(FINALIZER)
  );
}

/** Deletes objects whose deletion was not requested yet, in the background. */
async function deleteAll({ store, registryOf, context }: DeletionParts, resource: string, namespace: string) {
  for (const object of store.list(resource, { namespace }).objects) {
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
