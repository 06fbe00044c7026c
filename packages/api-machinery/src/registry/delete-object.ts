import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '@podwright/kube-kinds';
import type { RequestContext } from '../request-context.ts';
import { notFound } from '../status/api-error.ts';
import type { ObjectKey } from '../store/object-store.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { admissionAttributes, admissionOf } from './admission-attributes.ts';
import { checkPreconditions, type DeleteOptions } from './delete-options.ts';
import { type DeletionStep, deletionStep } from './deletion-step.ts';
import { keyIn } from './keys.ts';
import type { ResourceParts } from './resource-parts.ts';
import { Overtaken, written } from './store-answers.ts';
import type { Place } from './update-object.ts';

/** Maximum number of attempts to delete an object that is concurrently modified while admission runs. */
const MAX_ATTEMPTS = 100;

export type Deleted = {
  /** The deleted object in the served version: its last state if it was removed, otherwise its state with a deletion timestamp. */
  object: ApiObject;
  /** Whether the object was removed rather than only marked for deletion. */
  removed: boolean;
};

/** Deletes an object. Objects with finalizers or a grace period are only marked for deletion and removed later. Throws `ApiError`. */
export async function deleteObject(
  parts: ResourceParts,
  { namespace, name, options, isCollection = false }: Place & { options: DeleteOptions; isCollection?: boolean },
  context: RequestContext,
): Promise<Deleted> {
  const { kind } = parts;
  const key = keyIn(kind, namespace, name);
  for (let attempt = 1; ; attempt++) {
    const stored = parts.store.get(key);
    if (stored === undefined) throw notFound(kind.resource, name);
    const old = stored.decode();
    checkPreconditions(kind, old, options.preconditions);
    const step = deletionStep(kind, old, { options, nowMs: context.nowMs });
    if (step.kind === 'pending') return { object: kind.fromStored(old), removed: false };
    const subject = { operation: 'DELETE', namespace, name: isCollection ? '' : name, oldObject: old } as const;
    const attributes = admissionAttributes(parts, subject, context);
    const admission = admissionOf(parts, context);
    await admission.mutate(attributes);
    await admission.validate(attributes);
    context.authorizeAgain?.();
    try {
      const apply = () => applyStep(parts, { key, stored, step });
      const object = context.dryRun ? tried(step, old) : written({ resource: kind.resource, name }, apply);
      return { object: kind.fromStored(object), removed: step.kind === 'remove' };
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
      context.signal?.throwIfAborted();
      if (attempt === MAX_ATTEMPTS) throw error.answer;
    }
  }
}

type Step = Exclude<DeletionStep, { kind: 'pending' }>;

/** Returns the object that a dry-run DELETE reports. */
const tried = (step: Step, old: ApiObject): ApiObject => (step.kind === 'keep' ? step.object : (step.marked ?? old));

function applyStep(
  { store }: ResourceParts,
  { key, stored, step }: { key: ObjectKey; stored: StoredObject; step: Step },
): ApiObject {
  if (step.kind === 'keep') {
    const isSame = isDeepStrictEqual(step.object, stored.decode());
    return isSame ? step.object : store.update(key, step.object, stored.revision).decode();
  }
  const { revision } = step.marked === undefined ? stored : store.update(key, step.marked, stored.revision);
  return store.delete(key, revision).decode();
}
