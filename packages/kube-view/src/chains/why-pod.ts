import { errorCode } from '@podwright/base';
import { type Pod, podSummary } from '@podwright/kube-api';
import { unlessForbidden } from '../api-view-reader.ts';
import { claimNamesOf } from '../causes/claims.ts';
import { conditionOf, containerStatusesOf, endsOf } from '../causes/containers.ts';
import type { LogEnd, NodeFacts, PodFacts } from '../causes/finding.ts';
import { explainPod, isPodWell } from '../causes/pod-causes.ts';
import { explainRestarts, recentEnd } from '../causes/restarts.ts';
import { VIEWED, type ViewReader } from '../view-reader.ts';
import { configEdit } from './config-edit.ts';
import { caused, type Explanation, subjectOf, well, withChange } from './explanation.ts';

/** Explains why a pod is or is not ready. Rejects with the reader's errors. */
export async function whyPod(reader: ViewReader, pod: Pod, now = Date.now()): Promise<Explanation> {
  const subject = subjectOf('Pod', pod);
  if (isPodWell(pod)) {
    const restarting = await whyRestarts(reader, pod, now);
    if (restarting !== undefined) return restarting;
    const { ready, status } = podSummary(pod);
    return well(subject, pod.status?.phase === 'Succeeded' ? 'has completed' : `is ready (${ready}, ${status})`);
  }
  const [events, log, unboundClaims, nodes] = await Promise.all([
    reader.events({ ...subject, uid: pod.metadata.uid }),
    logEnd(reader, pod),
    claimsWithoutVolume(reader, pod),
    isScheduled(pod) ? [] : nodesOf(reader),
  ]);
  const explained = caused(subject, explainPod({ pod, events, log, unboundClaims, nodes, now }));
  return isScheduled(pod) ? withChange(explained, await configEdit(reader, pod)) : explained;
}

/** Explains why a container of a ready pod keeps restarting; undefined if none does. */
async function whyRestarts(reader: ViewReader, pod: Pod, now: number): Promise<Explanation | undefined> {
  const ended = recentEnd(pod, now);
  if (ended === undefined) return undefined;
  const subject = subjectOf('Pod', pod);
  const container = ended.status.name;
  const [events, lines] = await Promise.all([
    reader.events({ ...subject, uid: pod.metadata.uid }),
    reader.log(pod, container, true),
  ]);
  const finding = explainRestarts({ pod, events, log: { container, previous: true, lines }, now });
  return finding && withChange(caused(subject, finding), await configEdit(reader, pod));
}

/** Returns the nodes; none if the user may not list them, for example because the user only has rights in one namespace. */
const nodesOf = async (reader: ViewReader): Promise<NodeFacts[]> =>
  ((await unlessForbidden(reader.list(VIEWED.nodes, ''))) as NodeFacts[] | undefined) ?? [];

const isScheduled = (pod: Pod) => conditionOf(pod, 'PodScheduled')?.status !== 'False';

/** Reads the log of the container that failed or, if there is none, of a running container that is not ready. */
async function logEnd(reader: ViewReader, pod: Pod): Promise<LogEnd | undefined> {
  const [failed] = endsOf(pod);
  const unready = containerStatusesOf(pod).find(({ ready, state }) => !ready && state?.running !== undefined);
  const status = failed?.status ?? unready;
  if (status === undefined) return undefined;
  const previous =
    failed !== undefined && status.state?.terminated === undefined && status.state?.running !== undefined;
  const lines = await reader.log(pod, status.name, previous);
  return { container: status.name, previous, lines };
}

type Claim = { spec?: { storageClassName?: string }; status?: { phase?: string } };

async function claimsWithoutVolume(reader: ViewReader, pod: Pod): Promise<PodFacts['unboundClaims']> {
  const { namespace } = pod.metadata;
  const claims = claimNamesOf(pod).map(async (name) => {
    const claim = await readClaim(reader, namespace, name);
    if (claim === 'forbidden') return [];
    if (claim === undefined) return [{ name, exists: false }];
    if (claim.status?.phase === 'Bound') return [];
    const events = await reader.events({ kind: 'PersistentVolumeClaim', namespace, name });
    return [{ name, exists: true, storageClass: claim.spec?.storageClassName, event: events.at(-1)?.message }];
  });
  return (await Promise.all(claims)).flat();
}

/** Reads a claim. Returns `forbidden` if the user may not read it, so that whether the claim exists is unknown. */
async function readClaim(
  reader: ViewReader,
  namespace: string,
  name: string,
): Promise<Claim | 'forbidden' | undefined> {
  try {
    return (await reader.get(VIEWED.claims, namespace, name)) as Claim | undefined;
  } catch (error) {
    if (errorCode(error) === 'permission_denied') return 'forbidden';
    throw error;
  }
}
