import { background, type Logger } from '@podwright/base';
import { type KubeObject, type Node, namespacedName, type Pod, type Resource } from '@podwright/kube-api';
import {
  ApiEventSink,
  type Informer,
  type InformerChange,
  Informers,
  type KubeClient,
  NAMESPACES,
  NODES,
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  PODS,
  STORAGE_CLASSES,
} from '@podwright/kube-client';
import { ClusterCache } from './cluster/cluster-cache.ts';
import { nominatedNode } from './cluster/nominated-node.ts';
import {
  BUDGETS,
  type Budget,
  type Claim,
  hasEnded,
  type PersistentVolume,
  type StorageClass,
} from './cluster/objects.ts';
import { podClaims } from './cluster/pod-claims.ts';
import { SchedulingQueue } from './queue/scheduling-queue.ts';
import { asksForOther, mayHelp } from './queue/wake-up.ts';
import { Scheduler } from './scheduler.ts';
import { SCHEDULER_NAME } from './writes/pod-writes.ts';

export type SchedulerOptions = {
  client: KubeClient;
  /** A client for events with its own rate limit. Default: `client`. */
  eventClient?: KubeClient;
  logger: Logger;
  /** Stops the scheduler. */
  signal: AbortSignal;
};

export type RunningScheduler = {
  /** Resolves once all objects have been read, after which pods are assigned. Also resolves if the signal aborts earlier. */
  readonly synced: Promise<void>;
  /** Resolves after the signal has aborted and the last binding has ended. */
  readonly ended: Promise<void>;
};

/**
 * Assigns the pods whose `schedulerName` is `default-scheduler` to nodes, like upstream's kube-scheduler with its default configuration.
 */
export function startScheduler({ client, eventClient = client, logger, signal }: SchedulerOptions): RunningScheduler {
  const informers = new Informers(client);
  const queue = new SchedulingQueue();
  const started: Pick<Informer<KubeObject>, 'synced' | 'stop'>[] = [];
  const start = <T extends KubeObject>(
    resource: Resource,
    onChange: (change: InformerChange<T>) => void,
  ): Informer<T> => {
    const informer = informers.start<T>({ resource, onChange });
    started.push(informer);
    return informer;
  };
  const wakeClaimants = () => queue.clusterChanged((pod) => podClaims(pod).length > 0);
  const lookedUp = {
    namespaces: start<KubeObject>(NAMESPACES, () => queue.clusterChanged(hasAffinity)),
    claims: start<Claim>(PERSISTENT_VOLUME_CLAIMS, wakeClaimants),
    volumes: start<PersistentVolume>(PERSISTENT_VOLUMES, wakeClaimants),
    storageClasses: start<StorageClass>(STORAGE_CLASSES, wakeClaimants),
    budgets: start<Budget>(BUDGETS, () => undefined),
  };
  const cache = new ClusterCache(lookedUp);
  const nodes = new Map<string, Node>();
  start<Node>(NODES, ({ type, object }) => {
    const { name = '' } = object.metadata;
    const before = nodes.get(name);
    if (type === 'DELETED') {
      nodes.delete(name);
      cache.deleteNode(object);
      queue.clusterChanged(hasAffinity);
    } else {
      nodes.set(name, object);
      cache.setNode(object);
      if (mayHelp(before, object)) queue.clusterChanged();
    }
  });
  const sink = new ApiEventSink({ client: eventClient, logger });
  const pods = start<Pod>(PODS, (change) => followPod(change, { cache, queue, scheduler }));
  const scheduler = new Scheduler({
    client,
    cache,
    queue,
    events: sink.recorder({ component: SCHEDULER_NAME }),
    pod: ({ metadata: { namespace, name } }) => pods.get({ namespace, name }),
    claim: ({ metadata: { namespace, name = '' } }) => lookedUp.claims.get({ namespace, name }),
    logger,
    signal,
  });
  const isRead = Promise.all(started.map((informer) => informer.synced)).then(
    () => true,
    () => false, // stopped before the first list
  );
  const ended = isRead.then((isComplete) => (isComplete ? scheduler.run() : undefined));
  background(logger, 'pods are no longer scheduled', ended);
  const stop = () => {
    queue.close();
    sink.stop();
    for (const informer of started) informer.stop();
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  return { synced: isRead.then(() => undefined), ended };
}

type Followers = { cache: ClusterCache; queue: SchedulingQueue; scheduler: Scheduler };

function followPod({ type, object: pod }: InformerChange<Pod>, { cache, queue, scheduler }: Followers): void {
  const key = namespacedName(pod);
  const isDeleted = type === 'DELETED';
  const isAssigned = (pod.spec.nodeName ?? '') !== '';
  const before = cache.isAssumed(pod) ? undefined : cache.assignedPod(key);
  if (isDeleted) cache.deletePod(pod);
  else cache.setPod(pod);
  const nominated = nominatedNode(pod);
  if (isDeleted || isAssigned) scheduler.forgetNomination(pod);
  else if (nominated !== undefined) scheduler.nominated(pod, nominated);
  if (!isDeleted && needsNode(pod)) {
    if (!cache.isAssumed(pod)) queue.put(pod);
    return;
  }
  queue.delete(key);
  if (isDeleted || hasEnded(pod)) queue.clusterChanged();
  else if (isAssigned && before === undefined)
    queue.clusterChanged(hasAffinity); // it may attract others
  else if (before !== undefined && (asksForOther(before, pod) || cache.freesResources(before, pod)))
    queue.clusterChanged();
}

function needsNode({ metadata, spec, ...pod }: Pod): boolean {
  const scheduler = spec.schedulerName ?? '';
  return (
    (spec.nodeName ?? '') === '' &&
    metadata.deletionTimestamp === undefined &&
    !hasEnded(pod) &&
    (scheduler === '' || scheduler === SCHEDULER_NAME) &&
    (spec.schedulingGates ?? []).length === 0
  );
}

/** Whether other pods or namespaces affect where the pod may run. */
function hasAffinity({ spec }: Pod): boolean {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  return podAffinity !== undefined || podAntiAffinity !== undefined || spec.topologySpreadConstraints !== undefined;
}
