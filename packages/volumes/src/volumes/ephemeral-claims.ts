import type { Pod, Volume } from '@podwright/kube-api';
import type { VolumePlugin, VolumeRequest } from './plugin.ts';

/** Returns the name of the claim created by the cluster's controller for the pod's `ephemeral` volume. */
export function ephemeralClaimName({ metadata }: Pod, { name }: Volume): string {
  return `${metadata.name}-${name}`;
}

/** `ephemeral`: a claim with the same lifetime as the pod. */
export class EphemeralClaimsPlugin implements VolumePlugin {
  readonly name: string;
  readonly #claims: VolumePlugin;

  constructor(claims: VolumePlugin) {
    this.#claims = claims;
    this.name = claims.name;
  }

  supports(volume: Volume): boolean {
    return volume.ephemeral !== undefined;
  }

  setUp(request: VolumeRequest, signal: AbortSignal): Promise<string> {
    const { pod, volume } = request;
    const persistentVolumeClaim = { claimName: ephemeralClaimName(pod, volume) };
    return this.#claims.setUp({ ...request, volume: { name: volume.name, persistentVolumeClaim } }, signal);
  }
}
