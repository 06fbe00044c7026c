import type { ApiObject } from '@podwright/kube-kinds';
import { conflict } from '../status/api-error.ts';
import type { ServedKind } from './served-kind.ts';

/** DeleteOptions (meta/v1) without `dryRun`, which is part of the request context. */
export type DeleteOptions = {
  gracePeriodSeconds?: number;
  preconditions?: { uid?: string; resourceVersion?: string };
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  /** Whether dependents lose their owner reference instead of being deleted. Deprecated in favor of `propagationPolicy`. */
  orphanDependents?: boolean;
};

/**
 * Throws a Conflict error if the object does not meet the client's preconditions. As in upstream, the message contains the kind instead of
 * the resource name.
 */
export function checkPreconditions(
  { resource }: ServedKind,
  { metadata }: ApiObject,
  { uid, resourceVersion }: NonNullable<DeleteOptions['preconditions']> = {},
): void {
  const subject = { group: resource.group, plural: resource.kind };
  const { name = '' } = metadata;
  if (uid !== undefined && uid !== metadata.uid)
    throw conflict(
      subject,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    throw conflict(
      subject,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
}
