import { EventLoopBudget } from '@podwright/base';
import type { RequestContext } from '../request-context.ts';
import { ApiError } from '../status/api-error.ts';
import { deleteObject } from './delete-object.ts';
import type { DeleteOptions } from './delete-options.ts';
import { listObjects, type ObjectList } from './list-objects.ts';
import type { ListOptions } from './list-options.ts';
import type { ResourceParts } from './resource-parts.ts';

/**
 * Deletes the listed objects one at a time, stopping at the first failure. Objects that no longer exist are skipped. Returns the list.
 * Throws `ApiError`.
 */
export async function deleteCollection(
  parts: ResourceParts,
  { namespace, list, options }: { namespace: string; list: ListOptions; options: DeleteOptions },
  context: RequestContext,
): Promise<ObjectList> {
  const { signal } = context;
  const found = await listObjects(parts, { namespace, options: list, signal });
  const budget = new EventLoopBudget(); // the store is in this process: no deletion need leave the microtasks
  for (const { key } of found.objects) {
    if (budget.isSpent) await budget.renew();
    signal?.throwIfAborted();
    const [place = '', name = ''] = key.split('/');
    try {
      await deleteObject(parts, { namespace: place, name, options, isCollection: true }, context);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return found;
}

const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status.reason === 'NotFound';
