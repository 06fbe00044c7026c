import { isNotFound, PodwrightError } from '@podwright/base';
import type { Pod, PodWatchEvent } from '@podwright/kubelet';
import { NodeClient } from '../client/node-client.ts';
import type { ManifestObject, ManifestOptions } from '../manifests/read-manifests.ts';
import { print } from '../output/terminal-text.ts';
import { removalTimeoutMs } from '../run/removal-timeout.ts';
import type { CommandContext } from '../settings/node-config.ts';

export type DeleteOptions = ManifestOptions & { namespace: string; gracePeriod?: number; wait: boolean };

/** `podwright delete POD…` or `delete -f FILE`. */
export async function deletePods({ config }: CommandContext, names: string[], options: DeleteOptions): Promise<void> {
  const client = new NodeClient(config.apiSocket);
  const objects: ManifestObject[] = names.map((name) => ({ kind: 'Pod', namespace: options.namespace, name }));
  if (options.filename !== undefined) {
    const { readManifests } = await import('../manifests/read-manifests.ts');
    objects.push(...(await readManifests(options.filename, options)).objects);
  }
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
type PodReader = Pick<NodeClient, 'pod' | 'podChanges'>;

/** Waits until the node does not know the pod any more; `deadline_exceeded` for one that stays for `spareMs` longer than it was given to end. */
export async function gone(
  client: PodReader,
  { namespace, name }: ManifestObject,
  { gracePeriod, spareMs }: { gracePeriod: number | undefined; spareMs?: number },
): Promise<void> {
  const watching = new AbortController();
  using _watch = { [Symbol.dispose]: () => watching.abort() };
  const changes = await client.podChanges({ namespace, name }, watching.signal);
  const known = await find(client, { namespace, name });
  if (known === undefined) return;
  const timeoutMs = removalTimeoutMs([known], { gracePeriodSeconds: gracePeriod, spareMs });
  const timer = setTimeout(() => watching.abort(), timeoutMs);
  const removed = await isRemoved(known, changes).finally(() => clearTimeout(timer));
  if (removed) return;
  if (!watching.signal.aborted)
    throw new PodwrightError('unavailable', `delete pod ${namespace}/${name}: the node ended before the pod was gone`);
  throw new PodwrightError(
    'deadline_exceeded',
    `delete pod ${namespace}/${name}: it has not ended within ${Math.round(timeoutMs / 1000)} s, and the node goes on trying; ` +
      `'podwright describe ${name} -n ${namespace}' tells why, 'podwright delete ${name} -n ${namespace} --grace-period 0' kills it`,
  );
}

/** Whether the pod's end is among the changes. */
async function isRemoved(pod: Pod, changes: AsyncIterable<PodWatchEvent>): Promise<boolean> {
  for await (const { type, object } of changes)
    if (type === 'DELETED' && object.metadata.uid === pod.metadata.uid) return true;
  return false;
}

async function find(
  client: PodReader,
  { namespace, name }: { namespace: string; name: string },
): Promise<Pod | undefined> {
  try {
    return await client.pod(namespace, name);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
