import { counted, errorCode, isNotFound, raceAbort } from '@podwright/base';
import { isStaticPod, type Pod } from '@podwright/kubelet';
import { NodeClient } from '../client/node-client.ts';
import { stopNode } from '../daemon/ensure-node.ts';
import { print, printError } from '../output/terminal-text.ts';
import { Interrupted, listenForInterrupts } from '../run/interrupt.ts';
import { podLabel } from '../run/pod-rows.ts';
import { removalTimeoutMs } from '../run/removal-timeout.ts';
import { forgetDeleted } from '../run/run-records.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { gone } from './delete.ts';

export type StopCommandOptions = { keep?: boolean; pods?: boolean; gracePeriod?: number };

/** How far the end has come. `left`: the node ends by itself from here on. */
type Course = { client: NodeClient; deleted: Pod[]; left: boolean };

/** `podwright stop`: ends the node, its pods before it. Those of a cluster go on, as with upstream's kubelet. Returns the exit code. */
export async function stop(context: CommandContext, options: StopCommandOptions): Promise<number> {
  const course: Course = { client: new NodeClient(context.config.apiSocket), deleted: [], left: false };
  try {
    await raceAbort(end(course, context, options), listenForInterrupts().first);
    return 0;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    printError(whatGoesOn(course, ['podwright', ...context.configArgs, 'stop'].join(' ')));
    return error.exitCode;
  } finally {
    forgetDeleted(
      context.config.state,
      course.deleted.map(({ metadata: { namespace, name } }) => ({ kind: 'Pod', namespace, name })),
    );
  }
}

async function end(course: Course, { config }: CommandContext, options: StopCommandOptions): Promise<void> {
  const { client } = course;
  const pods = await findPods(client);
  if (pods === undefined) return print(`no node is running (nothing answers on ${config.apiSocket})`);
  const { manifestDir } = await client.node();
  const own = pods.filter(isStaticPod);
  const ofCluster = pods.filter((pod) => !isStaticPod(pod));
  const staying = options.keep ? own : await removeApplied(course, own, options.gracePeriod);
  const ending = options.keep ? [] : [...staying, ...(options.pods ? ofCluster : [])];
  const spareMs = removalTimeoutMs(ending, { gracePeriodSeconds: undefined });
  const [endPods, endApiPods] = [!options.keep, options.pods === true];
  course.left = true;
  await stopNode(client, { removeHostState: endPods, endPods, endApiPods }, spareMs);
  const left = options.pods ? [] : goOn(ofCluster, 'of the cluster');
  print(['the node has ended', ...whatOf(staying, options.keep ? undefined : manifestDir), ...left].join('; '));
}

/** What an interrupted stop leaves: nothing that was asked for is taken back. */
function whatGoesOn({ deleted, left }: Course, again: string): string {
  if (left) return 'the node goes on ending, and what is left of its pods with it';
  if (deleted.length === 0) return 'nothing was ended; the node and its pods go on running';
  return `${counted(deleted.length, 'pod')} ${deleted.length === 1 ? 'ends' : 'end'} in time, the node goes on; '${again}' ends it, with --grace-period 0 the pods at once`;
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
async function removeApplied(
  { client, deleted }: Course,
  pods: Pod[],
  gracePeriod: number | undefined,
): Promise<Pod[]> {
  const others: Pod[] = [];
  await Promise.all(
    pods.map(async (pod) => {
      if (!(await remove(client, pod, gracePeriod))) return others.push(pod);
      deleted.push(pod);
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
