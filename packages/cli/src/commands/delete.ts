import { isNotFound, PodwrightError, waitFor } from '@podwright/base';
import type { Pod } from '@podwright/kubelet';
import { NodeClient } from '../client/node-client.ts';
import { POD, parseObjects } from '../client/object-names.ts';
import { print } from '../output/terminal-text.ts';
import { type ManifestObject, readManifests } from '../run/manifests.ts';
import { removalTimeoutMs } from '../run/removal-timeout.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type DeleteOptions = { namespace: string; file?: string; gracePeriod?: number; wait: boolean };

/** `podwright delete POD…` or `delete -f FILE`. */
export async function deletePods({ config }: CommandContext, names: string[], options: DeleteOptions): Promise<void> {
  const client = new NodeClient(config.apiSocket);
  const objects: ManifestObject[] = parseObjects(names, { bare: POD }).named.map(({ kind, name }) => ({
    kind: kind.kind,
    namespace: options.namespace,
    name,
  }));
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
  if (options.wait) await Promise.all(pods.map((pod) => gone(client, pod, { gracePeriod: options.gracePeriod })));
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

/** What is asked of a node here. */
type PodReader = Pick<NodeClient, 'pod'>;

/**
 * Waits until the node does not know the pod any more, or knows another of that name; `deadline_exceeded` for one that stays for
 * `spareMs` longer than it was given to end.
 */
export async function gone(
  client: PodReader,
  { namespace, name }: ManifestObject,
  { gracePeriod, spareMs }: { gracePeriod: number | undefined; spareMs?: number },
): Promise<void> {
  const known = await find(client, { namespace, name });
  if (known === undefined) return;
  const timeoutMs = removalTimeoutMs([known], { gracePeriodSeconds: gracePeriod, spareMs });
  const signal = AbortSignal.timeout(timeoutMs);
  const probe = async () =>
    (await find(client, { namespace, name, signal }))?.metadata.uid === known.metadata.uid ? undefined : true;
  await waitFor(probe, { intervalMs: 50, signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    throw new PodwrightError(
      'deadline_exceeded',
      `delete pod ${namespace}/${name}: it has not ended within ${Math.round(timeoutMs / 1000)} s, and the node goes on trying; ` +
        `'podwright describe ${name} -n ${namespace}' tells why, 'podwright delete ${name} -n ${namespace} --grace-period 0' kills it`,
    );
  });
}

async function find(
  client: PodReader,
  { namespace, name, signal }: { namespace: string; name: string; signal?: AbortSignal },
): Promise<Pod | undefined> {
  try {
    return await client.pod(namespace, name, signal);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
