/** The PersistentVolumeClaims of a pod, and why they keep it from being scheduled. Pure. */
import type { Pod } from '@podwright/kube-api';
import { firstLine } from './containers.ts';
import type { Finding, PodFacts } from './finding.ts';

/** A claim without a volume. `isUnread`: only its name is known. */
type UnboundClaim = PodFacts['unboundClaims'][number] & { isUnread?: boolean };

/** Returns the names of the claims of a pod's volumes. */
export function claimNamesOf({ metadata, spec }: Pod): string[] {
  return (spec.volumes ?? []).flatMap((volume) => {
    if (volume.persistentVolumeClaim !== undefined) return [volume.persistentVolumeClaim.claimName];
    return volume.ephemeral === undefined ? [] : [`${metadata.name}-${volume.name}`];
  });
}

/**
 * Returns the claim that the scheduler's message is about; undefined if it is about something else. If the claims have not been read, the
 * claim is one that the message or the pod names.
 */
export function claimOf({ pod, unboundClaims }: PodFacts, message: string): UnboundClaim | undefined {
  const missing = /persistentvolumeclaim "([^"]+)" not found/.exec(message)?.[1];
  if (missing === undefined && !/unbound immediate|persistentvolumeclaim/i.test(message)) return undefined;
  if (unboundClaims[0] !== undefined) return unboundClaims[0];
  if (missing !== undefined) return { name: missing, exists: false };
  const [name, ...others] = claimNamesOf(pod);
  return name === undefined || others.length > 0 ? undefined : { name, exists: true, isUnread: true };
}

/** Explains a pod by a missing or unbound claim. */
export function pendingClaim({ name, exists, isUnread, storageClass, event }: UnboundClaim): Finding {
  if (!exists)
    return {
      cause: 'claim-missing',
      sentence: `the claim "${name}", which a volume names, does not exist`,
      advice: ['Create the PersistentVolumeClaim in the namespace of the pod, or correct its name in spec.volumes.'],
    };
  const of = isUnread ? '' : storageClass ? ` of the class "${storageClass}"` : ' without a StorageClass';
  return {
    cause: 'claim-pending',
    sentence: `its claim "${name}"${of} is not bound to a volume${event === undefined ? '' : `: ${firstLine(event)}`}`,
    advice: [
      'Name a StorageClass that exists (`kubectl get storageclasses`), or create a PersistentVolume that fits the claim.',
    ],
  };
}
