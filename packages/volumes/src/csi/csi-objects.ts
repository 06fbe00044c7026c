import { PodwrightError } from '@podwright/base';
import type { BoundClaim, CsiDriver, CsiTokenRequest, Pod, VolumeAttachment } from '@podwright/kube-api';
import type { ClaimPatch } from './claim-patches.ts';
import type { SecretPlace } from './csi-volume.ts';

/** A token of the pod's service account, as TokenRequest gives it. */
export type ServiceAccountToken = { token: string; expirationTimestamp: string };

/** What CSI volumes ask of a cluster. */
export interface CsiObjects {
  /** Undefined where there is none: a driver need not have such an object. Rejects where that is not known. */
  driver(name: string, signal: AbortSignal): Promise<CsiDriver | undefined>;
  /** Rejects with `not_found`. */
  secret(pod: Pod, place: SecretPlace, signal: AbortSignal): Promise<Record<string, string>>;
  token(pod: Pod, request: CsiTokenRequest, signal: AbortSignal): Promise<ServiceAccountToken>;
  /** Rejects with `not_found`. */
  attachment(name: string, signal: AbortSignal): Promise<VolumeAttachment>;
  /** As it is now. */
  claim(place: { namespace: string; name: string }, signal: AbortSignal): Promise<BoundClaim>;
  /** Changes a claim's status, and gives the claim as it is then. */
  patchClaim(place: { namespace: string; name: string }, patch: ClaimPatch, signal: AbortSignal): Promise<BoundClaim>;
}

/** What a driver without an object is taken for on a lone node: it may make volumes for pods, and hears of which. */
const LONE_DRIVER: CsiDriver['spec'] = {
  attachRequired: false,
  podInfoOnMount: true,
  volumeLifecycleModes: ['Persistent', 'Ephemeral'],
  fsGroupPolicy: 'ReadWriteOnceWithFSType',
};

/** A lone node: it has Secrets, and nothing else of a cluster. */
export function loneCsiObjects(secretData: (place: SecretPlace) => Record<string, string>): CsiObjects {
  const refuse = (what: string) =>
    Promise.reject(new PodwrightError('failed_precondition', `${what} needs an API server`));
  return {
    driver: (name) => Promise.resolve({ metadata: { name }, spec: LONE_DRIVER }),
    secret: async (_pod, place) => secretData(place),
    token: () => refuse('a service account token'),
    attachment: () => refuse('a volume that is attached'),
    claim: () => refuse('a claim that is bound'),
    patchClaim: () => refuse('a claim that is bound'),
  };
}
