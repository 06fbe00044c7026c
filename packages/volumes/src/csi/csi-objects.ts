import { PodwrightError } from '@podwright/base';
import type { BoundClaim, CsiDriver, CsiTokenRequest, Pod, VolumeAttachment } from '@podwright/kube-api';
import type { ClaimPatch } from './claim-patches.ts';
import type { SecretReference } from './csi-volume.ts';

/** A token of the pod's service account, with the fields of TokenRequest's status. */
export type ServiceAccountToken = { token: string; expirationTimestamp: string };

/** Cluster objects that CSI volumes need. */
export interface CsiObjects {
  /** Undefined if there is no such object, which drivers do not need. Rejects if that cannot be determined. */
  driver(name: string, signal: AbortSignal): Promise<CsiDriver | undefined>;
  /** Rejects with `not_found`. */
  secret(pod: Pod, place: SecretReference, signal: AbortSignal): Promise<Record<string, string>>;
  token(pod: Pod, request: CsiTokenRequest, signal: AbortSignal): Promise<ServiceAccountToken>;
  /** Rejects with `not_found`. */
  attachment(name: string, signal: AbortSignal): Promise<VolumeAttachment>;
  /** The claim's current state. */
  claim(place: { namespace: string; name: string }, signal: AbortSignal): Promise<BoundClaim>;
  /** Changes a claim's status, and returns the changed claim. */
  patchClaim(place: { namespace: string; name: string }, patch: ClaimPatch, signal: AbortSignal): Promise<BoundClaim>;
}

/** Without a cluster every driver counts as one with this spec: it supports inline volumes, and receives the pod's name. */
const LONE_DRIVER: CsiDriver['spec'] = {
  attachRequired: false,
  podInfoOnMount: true,
  volumeLifecycleModes: ['Persistent', 'Ephemeral'],
  fsGroupPolicy: 'ReadWriteOnceWithFSType',
};

/** For a node without a cluster: only Secrets exist. */
export function loneCsiObjects(secretData: (place: SecretReference) => Record<string, string>): CsiObjects {
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
