/** The NodePublishVolume fields with the pod's info, secrets and tokens. */
import { errorMessage, PodwrightError } from '@podwright/base';
import { CSI_PLUGIN, type CsiDriver, type Pod } from '@podwright/kube-api';
import type { CsiObjects } from './csi-objects.ts';
import type { CsiVolume, SecretReference } from './csi-volume.ts';

const TOKENS = 'csi.storage.k8s.io/serviceAccount.tokens';

type PublishInput = {
  pod: Pod;
  volume: CsiVolume;
  driver: CsiDriver | undefined;
  objects: CsiObjects;
  signal: AbortSignal;
};

/** Returns NodePublishVolume's volume_context and secrets. */
export async function contextAndSecrets(input: PublishInput): Promise<{
  volumeContext: Record<string, string>;
  secrets: Record<string, string>;
}> {
  const { volume, driver, pod } = input;
  const secrets = await secretData(volume.publishSecret, { ...input, failed: publishSecretFailed(volume) });
  const info = driver?.spec.podInfoOnMount === true ? podInfo(pod, volume) : {};
  const tokens = volume.isBlock ? {} : await serviceAccountTokens(input);
  const inSecrets = driver?.spec.serviceAccountTokenInSecrets === true;
  return {
    volumeContext: { ...volume.attributes, ...info, ...(inSecrets ? {} : tokens) },
    secrets: { ...secrets, ...(inSecrets ? tokens : {}) },
  };
}

const publishSecretFailed = ({ isBlock }: CsiVolume) =>
  isBlock
    ? `${CSI_PLUGIN}: blockMapper.publishVolumeForBlock failed to get NodePublishSecretRef PLACE`
    : 'fetching NodePublishSecretRef PLACE failed';

/**
 * Returns a Secret's data as strings; empty if there is no reference. `failed`: prefix of the error message, in which `PLACE` is replaced
 * by the Secret's namespace and name.
 */
export async function secretData(
  place: SecretReference | undefined,
  { pod, objects, signal, failed }: Pick<PublishInput, 'pod' | 'objects' | 'signal'> & { failed: string },
): Promise<Record<string, string>> {
  if (place === undefined) return {};
  const { namespace, name } = place;
  return await objects.secret(pod, place, signal).catch((error: unknown) => {
    const why = `${CSI_PLUGIN}: failed to find the secret ${name} in the namespace ${namespace} with error: ${errorMessage(error)}`;
    throw new PodwrightError('failed_precondition', `${failed.replace('PLACE', () => `${namespace}/${name}`)}: ${why}`);
  });
}

export function podInfo({ metadata, spec }: Pod, { mode }: Pick<CsiVolume, 'mode'>): Record<string, string> {
  return {
    'csi.storage.k8s.io/pod.name': metadata.name,
    'csi.storage.k8s.io/pod.namespace': metadata.namespace,
    'csi.storage.k8s.io/pod.uid': metadata.uid,
    'csi.storage.k8s.io/serviceAccount.name': spec.serviceAccountName ?? '',
    'csi.storage.k8s.io/ephemeral': String(mode === 'Ephemeral'),
  };
}

async function serviceAccountTokens({ pod, driver, objects, signal }: PublishInput): Promise<Record<string, string>> {
  const requests = driver?.spec.tokenRequests ?? [];
  if (requests.length === 0) return {};
  try {
    const tokens = await Promise.all(
      requests.map(async (request) => {
        const { token, expirationTimestamp } = await objects.token(pod, request, signal);
        return [request.audience, { token, expirationTimestamp }] as const;
      }),
    );
    return { [TOKENS]: JSON.stringify(Object.fromEntries(tokens)) };
  } catch (error) {
    const what = 'mounter.SetUpAt failed to get service accoount token attributes'; // upstream's spelling
    throw new PodwrightError('failed_precondition', `${CSI_PLUGIN}: ${what}: ${errorMessage(error)}`);
  }
}
