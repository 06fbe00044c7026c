import { counted, errorCode, isNotFound } from '@podwright/base';
import type { Pod } from '@podwright/kubelet';
import { NodeClient } from '../client/node-client.ts';
import { stopNode } from '../daemon/ensure-node.ts';
import { print } from '../output/terminal-text.ts';
import { podLabel } from '../run/pod-rows.ts';
import { removalTimeoutMs } from '../run/removal-timeout.ts';
import { forgetDeleted } from '../run/run-records.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { gone } from './delete.ts';

export type StopCommandOptions = { keep?: boolean; gracePeriod?: number };

/** `podwright stop`: ends the node, its pods before it. */
export async function stop({ config }: CommandContext, options: StopCommandOptions): Promise<void> {
  const client = new NodeClient(config.apiSocket);
  const pods = await findPods(client);
  if (pods === undefined) return print(`no node is running (nothing answers on ${config.apiSocket})`);
  const { manifestDir } = await client.node();
  const staying = options.keep ? pods : await removeApplied(client, pods, options.gracePeriod);
  const spareMs = options.keep ? 0 : removalTimeoutMs(staying, { gracePeriodSeconds: undefined });
  const deleted = pods.filter((pod) => !staying.includes(pod));
  forgetDeleted(
    config.state,
    deleted.map(({ metadata: { namespace, name } }) => ({ kind: 'Pod', namespace, name })),
  );
  await stopNode(client, { removeHostState: !options.keep, endPods: !options.keep }, spareMs);
  print(
    `the node has ended${staying.length === 0 ? '' : `; ${whatOf(staying, options.keep ? undefined : manifestDir)}`}`,
  );
}

/** What becomes of pods that stay: they run, or are asked for by files of a directory. */
function whatOf(pods: Pod[], manifestDir: string | undefined): string {
  const one = pods.length === 1;
  if (manifestDir === undefined) return `${counted(pods.length, 'pod')} ${one ? 'goes' : 'go'} on running`;
  const names = pods.map(podLabel).join(', ');
  return `${names} ${one ? 'comes' : 'come'} back with the next one, from files in ${manifestDir}`;
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
