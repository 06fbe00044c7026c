import { PodwrightError } from '@podwright/base';
import type { BoundClaim, CsiDriver, CsiTokenRequest, Pod, VolumeAttachment } from '@podwright/kube-api';
import type { ClaimPatch } from './claim-patches.ts';
import type { SecretReference } from './csi-volume.ts';

/** A token of the pod's service account, with the fields of TokenRequest's status. */
export type ServiceAccountToken = { token: string; expirationTimestamp: string };

/** Cluster objects that CSI volumes need. */
export interface CsiObjects {
  /** Undefined if there is no such object; a driver need not have one. Rejects if the API server cannot be asked. */
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

/** The spec that every driver gets on a node without a cluster: it supports inline volumes and receives the pod's name. */
const LONE_DRIVER: CsiDriver['spec'] = {
  attachRequired: false,
  podInfoOnMount: true,
  volumeLifecycleModes: ['Persistent', 'Ephemeral'],
  fsGroupPolicy: 'ReadWriteOnceWithFSType',
};

/** Objects of a node without a cluster, which has only Secrets. */
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
