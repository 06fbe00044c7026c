import { counted, errorCode, isNotFound } from '@podwright/base';
import { isStaticPod, type Pod } from '@podwright/kubelet';
import { NodeClient } from '../client/node-client.ts';
import { stopNode } from '../daemon/ensure-node.ts';
import { print } from '../output/terminal-text.ts';
import { podLabel } from '../run/pod-rows.ts';
import { removalTimeoutMs } from '../run/removal-timeout.ts';
import { forgetDeleted } from '../run/run-records.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { gone } from './delete.ts';

export type StopCommandOptions = { keep?: boolean; pods?: boolean; gracePeriod?: number };

/** `podwright stop`: ends the node, its pods before it. Those of a cluster go on, as with upstream's kubelet. */
export async function stop({ config }: CommandContext, options: StopCommandOptions): Promise<void> {
  const client = new NodeClient(config.apiSocket);
  const pods = await findPods(client);
  if (pods === undefined) return print(`no node is running (nothing answers on ${config.apiSocket})`);
  const { manifestDir } = await client.node();
  const own = pods.filter(isStaticPod);
  const ofCluster = pods.filter((pod) => !isStaticPod(pod));
  const staying = options.keep ? own : await removeApplied(client, own, options.gracePeriod);
  const ending = options.keep ? [] : [...staying, ...(options.pods ? ofCluster : [])];
  const spareMs = removalTimeoutMs(ending, { gracePeriodSeconds: undefined });
  const deleted = own.filter((pod) => !staying.includes(pod));
  forgetDeleted(
    config.state,
    deleted.map(({ metadata: { namespace, name } }) => ({ kind: 'Pod', namespace, name })),
  );
  const [endPods, endApiPods] = [!options.keep, options.pods === true];
  await stopNode(client, { removeHostState: endPods, endPods, endApiPods }, spareMs);
  const left = options.pods ? [] : goOn(ofCluster, 'of the cluster');
  print(['the node has ended', ...whatOf(staying, options.keep ? undefined : manifestDir), ...left].join('; '));
}

/** What becomes of pods that stay: they run, or are asked for by files of a directory. */
function whatOf(pods: Pod[], manifestDir: string | undefined): string[] {
  if (manifestDir === undefined) return goOn(pods);
  if (pods.length === 0) return [];
  const names = pods.map(podLabel).join(', ');
  return [`${names} ${pods.length === 1 ? 'comes' : 'come'} back with the next one, from files in ${manifestDir}`];
}

function goOn(pods: Pod[], which = ''): string[] {
  if (pods.length === 0) return [];
  return [`${counted(pods.length, 'pod')} ${which}${which && ' '}${pods.length === 1 ? 'goes' : 'go'} on running`];
}

async function findPods(client: NodeClient): Promise<Pod[] | undefined> {
  try {
    return await client.pods();
  } catch (error) {
    if (errorCode(error) === 'unavailable') return undefined;
    throw error;
  }
}

/** Deletes the pods that clients made, and waits until they are gone; returns the others. */
async function removeApplied(client: NodeClient, pods: Pod[], gracePeriod: number | undefined): Promise<Pod[]> {
  const others: Pod[] = [];
  await Promise.all(
    pods.map(async (pod) => {
      if (!(await remove(client, pod, gracePeriod))) return others.push(pod);
      await gone(client, { kind: 'Pod', ...pod.metadata }, { gracePeriod });
      return print(`pod ${pod.metadata.namespace}/${pod.metadata.name} deleted`);
    }),
  );
  return others;
}

/** False for a pod of a manifest that somebody put into the directory. */
async function remove(client: NodeClient, { metadata }: Pod, gracePeriod: number | undefined): Promise<boolean> {
  try {
    await client.delete({ kind: 'Pod', namespace: metadata.namespace, name: metadata.name }, gracePeriod);
    return true;
  } catch (error) {
    if (isNotFound(error)) return true;
    if (errorCode(error) === 'already_exists') return false; // what a conflict (409) is here
    throw error;
  }
}
