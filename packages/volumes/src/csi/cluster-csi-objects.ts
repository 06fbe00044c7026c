import { errorCode, PodwrightError, raceAbort } from '@podwright/base';
import type { BoundClaim, CsiDriver, KubeObject, Pod, VolumeAttachment } from '@podwright/kube-api';
import {
  apiMessage,
  type KubeClient,
  PERSISTENT_VOLUME_CLAIMS,
  SECRETS,
  VOLUME_ATTACHMENTS,
} from '@podwright/kube-client';
import type { TokenSpec } from '../volumes/payload.ts';
import type { CsiObjects } from './csi-objects.ts';

export type ClusterCsiOptions = {
  client: Pick<KubeClient, 'get' | 'patch'>;
  token: (pod: Pod, request: TokenSpec, signal: AbortSignal) => Promise<string>;
  /** Returns the CSIDriver informer; `undefined` before it is started. */
  drivers: () =>
    | { synced: Promise<void>; hasSynced(): boolean; get(place: { name: string }): KubeObject | undefined }
    | undefined;
};

/** Provides the cluster objects required by CSI volumes, from an API server. */
export function clusterCsiObjects({ client, token, drivers }: ClusterCsiOptions): CsiObjects {
  return {
    driver: async (name, signal) => {
      const informer = drivers();
      if (informer === undefined) throw new PodwrightError('unavailable', 'CSIDriver objects are not watched yet');
      if (!informer.hasSynced()) await raceAbort(informer.synced, signal);
      return informer.get({ name }) as CsiDriver | undefined;
    },
    secret: async (_pod, place, signal) => {
      const { data = {} } = await withApiMessage(client.get<SecretObject>(SECRETS, place, { signal }));
      return Object.fromEntries(
        Object.entries(data ?? {}).map(([key, base64]) => [key, Buffer.from(base64, 'base64').toString()]),
      );
    },
    token: async (pod, { audience, expirationSeconds }, signal) => {
      const value = await token(pod, { audience, expirationSeconds }, signal);
      return { token: value, expirationTimestamp: expiryOf(value) };
    },
    attachment: (name, signal) =>
      withApiMessage(client.get<VolumeAttachment>(VOLUME_ATTACHMENTS, { name }, { signal })),
    claim: (place, signal) => withApiMessage(client.get<BoundClaim>(PERSISTENT_VOLUME_CLAIMS, place, { signal })),
    patchClaim: (place, body, signal) =>
      withApiMessage(
        client.patch<BoundClaim>(
          PERSISTENT_VOLUME_CLAIMS,
          place,
          { type: 'strategic', body, subresource: 'status' },
          { signal },
        ),
      ),
  };
}

type SecretObject = KubeObject & { data?: Record<string, string> | null };

/** Replaces a failed call's error with one that only contains the API server's message. */
async function withApiMessage<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new PodwrightError(errorCode(error), apiMessage(error));
  }
}

/** Returns the expiration time of a JSON Web Token; '' if it cannot be parsed. */
function expiryOf(token: string): string {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp?: unknown };
    return new Date(Number(exp) * 1000).toISOString().replace('.000Z', 'Z');
  } catch {
    return '';
  }
}
