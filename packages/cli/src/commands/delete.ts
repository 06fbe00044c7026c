import { isNotFound, PodwrightError, waitFor } from '@podwright/base';
import { NodeClient } from '../client/node-client.ts';
import { print } from '../output/terminal-text.ts';
import { type ManifestObject, readManifests } from '../run/manifests.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type DeleteOptions = { namespace: string; file?: string; gracePeriod?: number; wait: boolean };

/** `podwright delete POD…` or `delete -f FILE`. */
export async function deletePods({ config }: CommandContext, names: string[], options: DeleteOptions): Promise<void> {
  const client = new NodeClient(config.apiSocket);
  const objects: ManifestObject[] = names.map((name) => ({ kind: 'Pod', namespace: options.namespace, name }));
  if (options.file !== undefined) objects.push(...readManifests([options.file]).objects);
  if (objects.length === 0)
    throw new PodwrightError(
      'invalid_argument',
      "delete: name a pod, or a manifest with -f; 'podwright ps' lists the pods",
    );
  const missing: string[] = [];
  // Pods go first: what they mount stays until they have ended.
  const pods = objects.filter(({ kind }) => kind === 'Pod');
  await Promise.all(pods.map((pod) => remove(client, pod, { options, missing })));
  if (options.wait) await Promise.all(pods.map((pod) => gone(client, pod)));
  for (const object of objects.filter(({ kind }) => kind !== 'Pod')) await remove(client, object, { options, missing });
  if (missing.length > 0)
    throw new PodwrightError('not_found', `not found: ${missing.join(', ')}; 'podwright ps' lists the pods`);
}

async function remove(
  client: NodeClient,
  object: ManifestObject,
  context: { options: DeleteOptions; missing: string[] },
): Promise<void> {
  const label = `${object.kind.toLowerCase()} ${object.namespace}/${object.name}`;
  try {
    await client.delete(object, context.options.gracePeriod);
    print(`${label} deleted`);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    context.missing.push(label);
  }
}

/** Waits until the node does not know the pod any more, or knows another of that name. */
async function gone(client: NodeClient, pod: ManifestObject): Promise<void> {
  let uid: string | undefined;
  const probe = async () => {
    try {
      const found = (await client.pod(pod.namespace, pod.name)).metadata.uid;
      uid ??= found;
      return found === uid ? undefined : true;
    } catch (error) {
      if (isNotFound(error)) return true;
      throw error;
    }
  };
  await waitFor(probe, { intervalMs: 50, signal: new AbortController().signal });
}
