import { PodwrightError } from '@podwright/base';
import type { BoundClaim, CsiDriver, CsiTokenRequest, Pod, VolumeAttachment } from '@podwright/kube-api';
import type { ClaimPatch } from './claim-patches.ts';
import type { SecretReference } from './csi-volume.ts';

/** A token for the pod's service account, with the fields of a TokenRequest's status. */
export type ServiceAccountToken = { token: string; expirationTimestamp: string };

/** The cluster objects required by CSI volumes. */
export interface CsiObjects {
  /**
   * Returns a CSIDriver object; `undefined` if there is none, because it is optional for drivers. Rejects if the API server cannot be
   * queried.
   */
  driver(name: string, signal: AbortSignal): Promise<CsiDriver | undefined>;
  /** Returns a Secret's data. Rejects with `not_found` if it does not exist. */
  secret(pod: Pod, place: SecretReference, signal: AbortSignal): Promise<Record<string, string>>;
  token(pod: Pod, request: CsiTokenRequest, signal: AbortSignal): Promise<ServiceAccountToken>;
  /** Reads a VolumeAttachment. Rejects with `not_found` if it does not exist. */
  attachment(name: string, signal: AbortSignal): Promise<VolumeAttachment>;
  /** Reads the current version of a PersistentVolumeClaim. */
  claim(place: { namespace: string; name: string }, signal: AbortSignal): Promise<BoundClaim>;
  /** Patches a claim's status and returns the patched claim. */
  patchClaim(place: { namespace: string; name: string }, patch: ClaimPatch, signal: AbortSignal): Promise<BoundClaim>;
}

/** CSIDriver spec used for all drivers on a standalone node: supports inline volumes, and receives pod info. */
const STANDALONE_DRIVER: CsiDriver['spec'] = {
  attachRequired: false,
  podInfoOnMount: true,
  volumeLifecycleModes: ['Persistent', 'Ephemeral'],
  fsGroupPolicy: 'ReadWriteOnceWithFSType',
};

/** Provides the cluster objects required by CSI volumes on a standalone node, where only Secrets exist. */
export function standaloneCsiObjects(secretData: (place: SecretReference) => Record<string, string>): CsiObjects {
  const refuse = (what: string) =>
    Promise.reject(new PodwrightError('failed_precondition', `${what} needs an API server`));
  return {
    driver: (name) => Promise.resolve({ metadata: { name }, spec: STANDALONE_DRIVER }),
    secret: async (_pod, place) => secretData(place),
    token: () => refuse('a service account token'),
    attachment: () => refuse('a volume that is attached'),
    claim: () => refuse('a claim that is bound'),
    patchClaim: () => refuse('a claim that is bound'),
  };
}
