import { counted, errorCode, isNotFound, raceAbort } from '@podwright/base';
import { isStaticPod, type Pod } from '@podwright/kube-api';
import { NodeClient } from '../client/node-client.ts';
import { ObjectClient } from '../client/object-client.ts';
import { OBJECT_KINDS } from '../client/object-names.ts';
import { stopNode } from '../daemon/ensure-node.ts';
import { print, printError } from '../output/terminal-text.ts';
import { Interrupted, listenForInterrupts } from '../run/interrupt.ts';
import { isEnded } from '../run/pod-end.ts';
import { podLabel } from '../run/pod-rows.ts';
import { removalTimeoutMs } from '../run/removal-timeout.ts';
import { allRecords, dropDeleted, type RunRecord, uidsOfRuns } from '../run/run-records.ts';
import type { CommandContext } from '../settings/node-config.ts';
import { waitUntilRemoved } from './delete.ts';

export type StopCommandOptions = { keep?: boolean; delete?: boolean; pods?: boolean; gracePeriod?: number };

type ObjectName = { kind: string; namespace: string; name: string; path?: string };

/** The progress of `podwright stop`. `left`: the node has received the stop request, so it stops even if this command is interrupted. */
type Course = { client: NodeClient; deleted: ObjectName[]; left: boolean };

/** The kinds that `--delete` deletes in addition to pods. PersistentVolumeClaims are retained, along with their files. */
const DELETED_KINDS = OBJECT_KINDS.filter(({ kind }) => ['ConfigMap', 'Secret', 'RuntimeClass'].includes(kind));

/**
 * ConfigMaps that the Kubernetes API server creates by itself, and would recreate if they were deleted. Every namespace has one named
 * `kube-root-ca.crt`.
 */
const ROOT_CERTIFICATE = 'kube-root-ca.crt';
const OF_API = ['kube-system/extension-apiserver-authentication', 'kube-public/cluster-info'];

/**
 * `podwright stop`: stops the pods and then the node. Applied objects remain in the manifest directory for the next start. Pods that belong
 * to a cluster keep running, as with upstream's kubelet. Returns the exit code.
 */
export async function stop(context: CommandContext, options: StopCommandOptions): Promise<number> {
  const course: Course = { client: new NodeClient(context.config.apiSocket), deleted: [], left: false };
  try {
    await raceAbort(end(course, context, options), listenForInterrupts().first);
    return 0;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    printError(interruptedMessage(course, ['podwright', ...context.configArgs, 'stop'].join(' ')));
    return error.exitCode;
  } finally {
    dropDeleted(context.config.state, course.deleted);
  }
}

async function end(course: Course, { config }: CommandContext, options: StopCommandOptions): Promise<void> {
  const { client } = course;
  const pods = await findPods(client);
  if (pods === undefined) return print(`no node is running (nothing answers on ${config.apiSocket})`);
  const { kubernetesApi: isOfNode = false } = await client.node();
  const own = pods.filter((pod) => isOfNode || isStaticPod(pod));
  const ofCluster = pods.filter((pod) => !own.includes(pod));
  const staying = options.keep ? own : await deleteSome(course, own, { config, options, isOfNode });
  const ending = options.keep ? [] : [...staying, ...(options.pods ? ofCluster : [])];
  const spareMs = removalTimeoutMs(ending, { gracePeriodSeconds: options.gracePeriod });
  const [endPods, endApiPods] = [!options.keep, options.pods === true];
  course.left = true;
  const how = { removeHostState: endPods, endPods, endApiPods, gracePeriodSeconds: options.gracePeriod };
  await stopNode(client, how, spareMs);
  const remaining = options.pods ? [] : keepRunning(ofCluster, 'of the cluster');
  print(
    ['the node has stopped', ...(options.keep ? keepRunning(staying) : comeBack(staying)), ...remaining].join('; '),
  );
}

/** Describes the effects of an interrupted stop that will not be undone. */
function interruptedMessage({ deleted, left }: Course, again: string): string {
  if (left) return `the node and its pods continue to stop; '${again} --grace-period 0' kills the pods at once`;
  if (deleted.length === 0) return 'nothing was stopped; the node and its pods keep running';
  const pods = deleted.filter(({ kind }) => kind === 'Pod');
  return `${counted(pods.length, 'pod')} ${pods.length === 1 ? 'continues' : 'continue'} to stop, and the node keeps running; '${again}' stops it, and with --grace-period 0 kills the pods at once`;
}

/** Returns a note listing the pods that the node will start again at its next start. */
function comeBack(pods: Pod[]): string[] {
  const names = [...new Set(pods.filter((pod) => !isEnded(pod)).map(podLabel))]; // a pod and its successor have the same name
  return names.length === 0 ? [] : [`its next start also starts ${names.join(', ')}`];
}

function keepRunning(pods: Pod[], which = ''): string[] {
  if (pods.length === 0) return [];
  return [`${counted(pods.length, 'pod')} ${which}${which && ' '}${pods.length === 1 ? 'keeps' : 'keep'} running`];
}

async function findPods(client: NodeClient): Promise<Pod[] | undefined> {
  try {
    return await client.pods();
  } catch (error) {
    if (errorCode(error) === 'unavailable') return undefined;
    throw error;
  }
}

/**
 * Deletes the objects created by foreground `podwright run` commands or, with `--delete`, all applied objects. Returns the remaining pods.
 */
async function deleteSome(
  course: Course,
  pods: Pod[],
  { config, options, isOfNode }: { config: CommandContext['config']; options: StopCommandOptions; isOfNode: boolean },
): Promise<Pod[]> {
  const ofRuns = allRecords(config.state).flatMap(({ objects }) => objects);
  const uids = uidsOfRuns(config.state);
  const chosen = options.delete ? pods : pods.filter(({ metadata }) => uids.has(metadata.uid));
  for (const object of isOfNode ? await ofApi(course, ofRuns, options) : []) await deleteOther(course, object);
  const kept = await deletePods(course, chosen, options.gracePeriod);
  const others = ofRuns.filter(
    ({ kind, apiVersion }) => apiVersion === undefined && kind !== 'Pod' && kind !== 'PersistentVolumeClaim',
  );
  for (const object of options.delete ? await otherObjects(config.apiSocket) : others)
    await deleteOther(course, object);
  return [...pods.filter((pod) => !chosen.includes(pod)), ...kept];
}

/**
 * Returns the objects that exist only in a Kubernetes API: with `--delete`, all workloads and Services; otherwise, those created by
 * foreground `podwright run` commands.
 */
async function ofApi(
  { client }: Course,
  ofRuns: readonly RunRecord['objects'][number][],
  options: StopCommandOptions,
): Promise<ObjectName[]> {
  if (options.delete) return (await import('./workload-objects.ts')).workloadObjects(client);
  const made = ofRuns.flatMap(({ apiVersion, ...object }) =>
    apiVersion === undefined ? [] : [{ ...object, apiVersion }],
  );
  return made.length === 0 ? [] : (await client.locate(made)).reverse();
}

async function deleteOther(course: Course, object: ObjectName): Promise<void> {
  if (await isDeleted(course, object, undefined)) print(`${object.kind.toLowerCase()} ${labelOf(object)} deleted`);
}

async function otherObjects(apiSocket: string): Promise<ObjectName[]> {
  const objects = new ObjectClient(apiSocket);
  const lists = DELETED_KINDS.map(async (kind) =>
    (await objects.list(kind)).map(({ metadata: { namespace, name } }) => ({ kind: kind.kind, namespace, name })),
  );
  const isOfApi = ({ namespace, name }: ObjectName) =>
    name === ROOT_CERTIFICATE || OF_API.includes(`${namespace}/${name}`);
  return (await Promise.all(lists)).flat().filter((object) => !isOfApi(object));
}

/** Deletes the pods that were created by clients, and waits until they have been removed. Returns the remaining pods. */
async function deletePods(course: Course, pods: Pod[], gracePeriod: number | undefined): Promise<Pod[]> {
  const others: Pod[] = [];
  await Promise.all(
    pods.map(async (pod) => {
      const object = { kind: 'Pod', namespace: pod.metadata.namespace, name: pod.metadata.name };
      if (!(await isDeleted(course, object, gracePeriod))) return others.push(pod);
      await waitUntilRemoved(course.client, object, { uid: pod.metadata.uid, gracePeriod });
      return print(`pod ${labelOf(object)} deleted`);
    }),
  );
  return others;
}

const labelOf = ({ namespace, name }: ObjectName): string => (namespace === '' ? name : `${namespace}/${name}`);

/**
 * Deletes an object. Returns false if it comes from a user's file in the manifest directory or, unless it is a pod, if it does not exist.
 */
async function isDeleted({ client, deleted }: Course, object: ObjectName, gracePeriod?: number): Promise<boolean> {
  try {
    await client.delete(object, gracePeriod);
  } catch (error) {
    if (isNotFound(error)) return object.kind === 'Pod';
    if (errorCode(error) === 'already_exists') return false; // the code of a conflict (409)
    throw error;
  }
  deleted.push(object);
  return true;
}
