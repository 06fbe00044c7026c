import { errorMessage, type Logger } from '@podwright/base';
import type { Pod, PodObjects, Secret } from '@podwright/kube-api';
import { type KeyringEntry, parseDockerConfig } from './keyring.ts';

const MAY_FAIL = 'attempting to pull the image may not succeed';

/**
 * Returns the entries of the pod's `imagePullSecrets`, and event messages (`problems`) for those that are missing, unreadable or invalid.
 */
export function pullSecretEntries(
  pod: Pod,
  objects: PodObjects,
  logger: Logger,
): { entries: KeyringEntry[]; problems: string[] } {
  const entries: KeyringEntry[] = [];
  const missing: string[] = [];
  const problems: string[] = [];
  for (const { name } of pod.spec.imagePullSecrets ?? []) {
    if (name === '') continue;
    const secret = readSecret(pod, objects, { name, logger });
    if (secret === undefined) missing.push(name);
    else {
      const found = entriesOf(secret);
      if (typeof found !== 'string') entries.push(...found);
      else problems.push(`Unable to use the image pull secret "${name}", which ${found}; ${MAY_FAIL}`);
    }
  }
  if (missing.length > 0)
    problems.unshift(`Unable to retrieve some image pull secrets (${missing.join(', ')}); ${MAY_FAIL}.`);
  return { entries, problems };
}

/** Returns a Secret's entries, or a description of what is wrong with it. */
function entriesOf({ data, metadata: { uid = '', namespace, name } }: Secret): KeyringEntry[] | string {
  const encoded = data?.['.dockerconfigjson'] ?? data?.['.dockercfg'];
  if (encoded === undefined) return 'holds no docker configuration';
  try {
    const found = parseDockerConfig(Buffer.from(encoded, 'base64').toString('utf8'));
    return found.map((entry) => ({ ...entry, secret: { uid, namespace, name } }));
  } catch {
    return 'holds no valid docker configuration';
  }
}

/** Returns the Secret if it exists and can be read. The reason for a failure is logged but, as in upstream, not included in the event. */
function readSecret(
  pod: Pod,
  objects: PodObjects,
  { name, logger }: { name: string; logger: Logger },
): Secret | undefined {
  const { namespace, name: podName } = pod.metadata;
  try {
    return objects.of(pod).get('Secret', namespace, name);
  } catch (error) {
    logger.warn({ pod: podName, namespace, secret: name, error: errorMessage(error) }, 'a pull secret cannot be read');
    return undefined;
  }
}
