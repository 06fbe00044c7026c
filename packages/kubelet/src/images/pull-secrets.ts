import { errorMessage } from '@podwright/base';
import type { Pod, Secret } from '../api/types.ts';
import type { PodObjects } from '../config/local-objects.ts';
import { type KeyringEntry, parseDockerConfig } from './keyring.ts';

/** Entries of the pod's `imagePullSecrets`; a secret that is missing, not read or cannot be decoded is named in `problems`. */
export function pullSecretEntries(pod: Pod, objects: PodObjects): { entries: KeyringEntry[]; problems: string[] } {
  const entries: KeyringEntry[] = [];
  const problems: string[] = [];
  for (const { name } of pod.spec.imagePullSecrets ?? []) {
    const secret = readSecret(pod, objects, name);
    if (typeof secret === 'string') {
      problems.push(`the secret "${name}" cannot be read: ${secret}`);
      continue;
    }
    const encoded = secret?.data?.['.dockerconfigjson'] ?? secret?.data?.['.dockercfg'];
    if (encoded === undefined) {
      problems.push(
        `the secret "${name}" ${secret === undefined ? 'does not exist' : 'holds no docker configuration'}`,
      );
      continue;
    }
    const { uid = '', namespace } = secret!.metadata;
    try {
      const found = parseDockerConfig(Buffer.from(encoded, 'base64').toString('utf8'));
      for (const entry of found) entries.push({ ...entry, secret: { uid, namespace, name } });
    } catch {
      problems.push(`the secret "${name}" holds no valid docker configuration`);
    }
  }
  return { entries, problems };
}

/** The secret, undefined if there is none, or why that is not known. */
function readSecret(pod: Pod, objects: PodObjects, name: string): Secret | string | undefined {
  try {
    return objects.of(pod).get('Secret', pod.metadata.namespace, name);
  } catch (error) {
    return errorMessage(error);
  }
}
