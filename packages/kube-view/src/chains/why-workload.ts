import { counted } from '@podwright/base';
import type { KubeObject, LabelSelector, Pod, Resource } from '@podwright/kube-api';
import { unlessForbidden } from '../api-view-reader.ts';
import { isPodWell } from '../causes/pod-causes.ts';
import { recentEnd } from '../causes/restarts.ts';
import { VIEWED, type ViewReader } from '../view-reader.ts';
import { isEndless, type Workload, workloadState } from '../workload-state.ts';
import { type Change, caused, type Explanation, subjectOf, under, well, withChange } from './explanation.ts';
import { type Template, templateChanges } from './template-change.ts';
import { whyPod } from './why-pod.ts';
import { creationFailure } from './workload-causes.ts';

type Condition = { type: string; status: string; message?: string };
type Owned = KubeObject & {
  spec?: { replicas?: number; template?: Template; paused?: boolean; suspend?: boolean; selector?: LabelSelector };
  status?: { conditions?: Condition[] };
};

const REVISION = 'deployment.kubernetes.io/revision';

/** Explains why a workload is complete or lacks ready pods. Rejects with the reader's errors. */
export async function whyWorkload(reader: ViewReader, { kind }: Resource, workload: KubeObject): Promise<Explanation> {
  const subject = subjectOf(kind, workload);
  const { spec = {} } = workload as Owned;
  const state = workloadState({ ...workload, kind } as Workload);
  if (state.isComplete && state.failure === undefined) {
    const restarting = isEndless({ kind })
      ? await whyRestarting(reader, { kind, owner: workload as Owned })
      : undefined;
    return restarting === undefined ? well(subject, state.progress) : under(subject, state.progress, restarting);
  }
  const sentence = state.failure === undefined ? state.progress : `${state.progress}; ${state.failure}`;
  if (kind === 'Deployment') {
    const below = await newestReplicaSet(reader, workload as Owned);
    if (spec.paused)
      return caused(subject, {
        cause: 'paused',
        sentence: `${sentence}; it is paused, so changes of its template have no effect`,
        advice: [`Resume it: \`kubectl rollout resume -n ${subject.namespace} deployment/${subject.name}\`.`],
      });
    if (below !== undefined) {
      const explained = await whyOwner(reader, { kind: 'ReplicaSet', owner: below.set });
      return withChange(under(subject, sentence, explained), below.change);
    }
  }
  return await whyOwner(reader, { kind, owner: workload as Owned, sentence });
}

/** Explains the pod of a complete workload that restarts most often; undefined if no pod keeps restarting or pods may not be listed. */
async function whyRestarting(reader: ViewReader, { kind, owner }: Asked): Promise<Explanation | undefined> {
  if (kind === 'CronJob') return undefined;
  const { namespace = '', uid } = owner.metadata;
  const pods = ((await unlessForbidden(reader.list(VIEWED.pods, namespace))) ?? []) as Pod[];
  const now = Date.now();
  const restarting = pods.filter((pod) => isPodWell(pod) && recentEnd(pod, now) !== undefined);
  if (restarting.length === 0) return undefined;
  const newest = kind === 'Deployment' ? await unlessForbidden(newestReplicaSet(reader, owner)) : undefined;
  const set = newest?.set;
  const of = set?.metadata.uid ?? uid;
  const [worst] = ownedBy(of, restarting).sort((a, b) => restarts(b) - restarts(a));
  if (worst === undefined) return undefined;
  const explained = await whyPod(reader, worst, now);
  if (set === undefined) return explained;
  const own = ownedBy(of, pods);
  const progress = `${own.filter(isPodWell).length} of ${counted(own.length, 'pod')} ready`;
  return withChange(under(subjectOf('ReplicaSet', set), progress, explained), newest?.change);
}

const ownedBy = <T extends KubeObject>(uid: string | undefined, objects: readonly T[]): T[] =>
  objects.filter(({ metadata }) => metadata.ownerReferences?.some((one) => one.uid === uid));

type Asked = { kind: string; owner: Owned; sentence?: string };

/** Explains an object that owns pods. `sentence` says how many pods it has. */
async function whyOwner(reader: ViewReader, { kind, owner, sentence }: Asked): Promise<Explanation> {
  const subject = subjectOf(kind, owner);
  const { namespace = '', uid } = owner.metadata;
  const [all, events] = await Promise.all([
    reader.list(VIEWED.pods, namespace) as Promise<Pod[]>,
    reader.events({ ...subject, uid }),
  ]);
  const pods = ownedBy(uid, all);
  const notReady = pods.filter((pod) => !isPodWell(pod));
  const progress =
    sentence ?? `${pods.length - notReady.length} of ${counted(owner.spec?.replicas ?? pods.length, 'pod')} ready`;
  const failing = owner.status?.conditions?.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
  const reported = pods.length === 0 || failing !== undefined ? events : [];
  const failure = creationFailure(failing?.message, reported, namespace);
  if (failure !== undefined) return caused(subject, { ...failure, sentence: `${progress}; ${failure.sentence}` });
  const worst = notReady.toSorted((a, b) => restarts(b) - restarts(a) || created(a) - created(b))[0];
  if (worst !== undefined) return under(subject, progress, await whyPod(reader, worst));
  if (pods.length > 0) return well(subject, progress);
  return caused(subject, { cause: 'no-pods', sentence: `${progress}; it has no pods`, advice: [...why(kind, owner)] });
}

function why(kind: string, { metadata, spec = {} }: Owned): string[] {
  if (spec.replicas === 0) {
    const { namespace = 'default', name } = metadata;
    return [`It is scaled to 0: \`kubectl scale -n ${namespace} --replicas=1 ${kind.toLowerCase()}/${name}\`.`];
  }
  if (spec.suspend) return ['It is suspended (spec.suspend).'];
  if (kind === 'DaemonSet') return ['No node matches its nodeSelector, affinity and tolerations.'];
  return ['See its events, and check that the controllers run.'];
}

const restarts = ({ status }: Pod) => Math.max(0, ...(status?.containerStatuses ?? []).map((one) => one.restartCount));
const created = ({ metadata }: Pod) => Date.parse(metadata.creationTimestamp ?? '') || 0;
const revisionOf = ({ metadata }: KubeObject) => Number(metadata.annotations?.[REVISION] ?? 0);

/** Returns a Deployment's newest ReplicaSet, and a description of how its pod template differs from that of the previous ReplicaSet. */
async function newestReplicaSet(
  reader: ViewReader,
  { metadata: { namespace = '', uid } }: Owned,
): Promise<{ set: Owned; change?: Change } | undefined> {
  const sets = (await reader.list(VIEWED.replicaSets, namespace)) as Owned[];
  const [newest, before] = ownedBy(uid, sets).sort((a, b) => revisionOf(b) - revisionOf(a));
  if (newest === undefined) return undefined;
  const changes = before === undefined ? [] : templateChanges(before.spec?.template ?? {}, newest.spec?.template ?? {});
  if (changes.length === 0) return { set: newest };
  const at = newest.metadata.creationTimestamp ?? '';
  const text = `revision ${revisionOf(newest)}, of ${at}, changed ${changes.slice(0, 5).join(', ')}`;
  return { set: newest, change: { at, text } };
}

/** Maximum length of a chain of owners. Users can write objects that own each other. */
const MAX_OWNERS = 8;

/** Returns the topmost workload that owns a pod, such as the Deployment of its ReplicaSet; undefined if there is none. */
export async function ownerOf(
  reader: ViewReader,
  pod: KubeObject,
): Promise<{ resource: Resource; object: KubeObject } | undefined> {
  let top: { resource: Resource; object: KubeObject } | undefined;
  for (let depth = 0; depth < MAX_OWNERS; depth++) {
    const next = await controllerOf(reader, top?.object ?? pod);
    if (next === undefined) break;
    top = next;
  }
  return top;
}

async function controllerOf(
  reader: ViewReader,
  { metadata: { namespace = '', ownerReferences = [] } }: KubeObject,
): Promise<{ resource: Resource; object: KubeObject } | undefined> {
  const owner = ownerReferences.find(({ controller }) => controller === true);
  const resource = owner && Object.values(VIEWED).find(({ kind }) => kind === owner.kind);
  if (resource === undefined) return undefined;
  const object = await reader.get(resource, namespace, owner!.name);
  return object === undefined || object.metadata.uid !== owner!.uid ? undefined : { resource, object };
}
