import { errorCode, PodwrightError, raceAbort } from '@podwright/base';
import type { BoundClaim, CsiDriver, KubeObject, Pod, VolumeAttachment } from '@podwright/kube-api';
import {
  apiMessage,
  type KubeClient,
  PERSISTENT_VOLUME_CLAIMS,
  SECRETS,
  VOLUME_ATTACHMENTS,
} from '@podwright/kube-client';
import type { TokenWish } from '../volumes/payload.ts';
import type { CsiObjects } from './csi-objects.ts';

export type ClusterCsiOptions = {
  client: Pick<KubeClient, 'get' | 'patch'>;
  token: (pod: Pod, wish: TokenWish, signal: AbortSignal) => Promise<string>;
  /** The CSIDriver objects, once they are followed. */
  drivers: () =>
    | { synced: Promise<void>; hasSynced(): boolean; get(place: { name: string }): KubeObject | undefined }
    | undefined;
};

/** What CSI volumes ask of an API server. */
export function clusterCsiObjects({ client, token, drivers }: ClusterCsiOptions): CsiObjects {
  return {
    driver: async (name, signal) => {
      const informer = drivers();
      if (informer === undefined) throw new PodwrightError('unavailable', 'CSIDriver objects are not followed yet');
      if (!informer.hasSynced()) await raceAbort(informer.synced, signal);
      return informer.get({ name }) as CsiDriver | undefined;
    },
    secret: async (_pod, place, signal) => {
      const { data = {} } = await inItsWords(client.get<SecretObject>(SECRETS, place, { signal }));
      return Object.fromEntries(
        Object.entries(data ?? {}).map(([key, base64]) => [key, Buffer.from(base64, 'base64').toString()]),
      );
    },
    token: async (pod, { audience, expirationSeconds }, signal) => {
      const value = await token(pod, { audience, expirationSeconds }, signal);
      return { token: value, expirationTimestamp: expiryOf(value) };
    },
    attachment: (name, signal) => inItsWords(client.get<VolumeAttachment>(VOLUME_ATTACHMENTS, { name }, { signal })),
    claim: (place, signal) => inItsWords(client.get<BoundClaim>(PERSISTENT_VOLUME_CLAIMS, place, { signal })),
    patchClaim: (place, body, signal) =>
      inItsWords(
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

/** An answer that is no success, in the words of the API server alone. */
async function inItsWords<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw new PodwrightError(errorCode(error), apiMessage(error));
  }
}

/** When a JSON web token ends; '' of one that cannot be read. */
function expiryOf(token: string): string {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp?: unknown };
    return new Date(Number(exp) * 1000).toISOString().replace('.000Z', 'Z');
  } catch {
    return '';
  }
}
