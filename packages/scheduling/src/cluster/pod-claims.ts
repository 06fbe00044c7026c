import type { Pod } from '@podwright/kube-api';

/** A claim used by a pod's volume. `isEphemeral`: a controller creates the claim for the pod. */
export type PodClaim = { name: string; isEphemeral: boolean };

/** Returns the claims of a pod's volumes. */
export function podClaims({ metadata, spec }: Pod): PodClaim[] {
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }): PodClaim[] => {
    if (persistentVolumeClaim !== undefined) return [{ name: persistentVolumeClaim.claimName, isEphemeral: false }];
    return ephemeral === undefined ? [] : [{ name: `${metadata.name}-${name}`, isEphemeral: true }];
  });
}
