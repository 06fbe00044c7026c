import type { Pod } from '../api/types.ts';
import type { ObjectLookup } from '../config/local-objects.ts';
import { type KeyringEntry, parseDockerConfig } from './keyring.ts';

/** Entries of the pod's `imagePullSecrets`; a secret that is missing or cannot be decoded is named in `problems`. */
export function pullSecretEntries(pod: Pod, objects: ObjectLookup): { entries: KeyringEntry[]; problems: string[] } {
  const entries: KeyringEntry[] = [];
  const problems: string[] = [];
  for (const { name } of pod.spec.imagePullSecrets ?? []) {
    const secret = objects.get('Secret', pod.metadata.namespace, name);
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
