/** Terminates all pods before the kubelet stops. */
import { isStaticPod, type Pod } from '@podwright/kube-api';
import type { PodSources } from '@podwright/pod-config';
import { emptyRuntimePod } from '../kubecontainer/runtime-pod.ts';
import type { EndPods, KubeletDependencies } from '../kubelet.ts';
import type { KubeletOptions } from '../options.ts';
import { orphanPod } from '../pod/orphan-pod.ts';
import { isTerminal } from '../status/pod-phase.ts';
import type { StatusRecords } from '../status/status-records.ts';
import type { PodSync } from './pod-sync.ts';

type EndInput = {
  options: Pick<KubeletOptions, 'cluster'>;
  sync: Pick<PodSync, 'manager' | 'workers' | 'cache' | 'pleg' | 'statuses' | 'loop'>;
  records: StatusRecords;
};

type NodePod = { pod: Pod; isOfApi: boolean };

/** Returns the function that implements `Kubelet.endPods`. */
export function podsEnder(input: EndInput, sources: Pick<PodSources, 'stop'>): KubeletDependencies['endPods'] {
  const { workers } = input.sync;
  /** UIDs of pods that have been terminated. Terminating a pod again would delete the status recorded when it was first terminated. */
  const ended = new Set<string>();
  return async ({ ofApi, gracePeriodSeconds }: EndPods) => {
    await sources.stop(); // otherwise a changed manifest would create its pod again
    workers.refuseNewPods(); // otherwise a pod that waits for the end of another one would start
    const pods = podsOf(input);
    const ending = pods.filter(({ isOfApi }) => ofApi || !isOfApi);
    await Promise.all(
      ending.map(async ({ pod }) => {
        if (ended.has(pod.metadata.uid)) return;
        await endPod(input, pod, gracePeriodSeconds);
        ended.add(pod.metadata.uid);
      }),
    );
    return ending.length === pods.length;
  };
}

/**
 * Returns every pod on the node: pods from the pod sources, pods being removed or replaced, and pods in the container runtime whose source
 * has not been read or whose manifest is invalid. In a cluster, pods in the container runtime without a manifest path are assumed to come
 * from the API server.
 */
function podsOf({ options, sync }: EndInput): NodePod[] {
  const { manager, workers, cache, pleg } = sync;
  const pods = new Map<string, NodePod>();
  const add = (pod: Pod, isOfApi: boolean) => {
    const { uid } = pod.metadata;
    if (!pods.has(uid)) pods.set(uid, { pod, isOfApi });
  };
  for (const pod of [...manager.list(), ...workers.list().map(({ pod }) => pod)]) add(pod, !isStaticPod(pod));
  const unread = pleg.listedPods().filter(({ uid }) => cache.get(uid) === undefined);
  for (const status of [...cache.list(), ...unread.map(emptyRuntimePod)]) {
    const file = status.sandboxes[0]?.owner.file ?? '';
    add(orphanPod(status), options.cluster !== undefined && file === '');
  }
  return [...pods.values()];
}

/**
 * Terminates a pod. A pod that had already terminated on its own keeps its status and logs, so that it is not run again after the kubelet
 * restarts.
 */
async function endPod({ records, sync }: EndInput, pod: Pod, gracePeriodSeconds: number | undefined): Promise<void> {
  const { uid, namespace, name } = pod.metadata;
  const status = sync.statuses.lastKnown(pod);
  const isDeleted = [pod, sync.statuses.pod(uid)].some((one) => one?.metadata.deletionTimestamp !== undefined); // deleted by its source or an earlier call
  const hadEnded = isTerminal(status?.phase) && !isDeleted;
  await sync.loop.end(pod, { gracePeriodSeconds, keepLogs: hadEnded });
  if (hadEnded) records.save(uid, { namespace, name, status: status! });
}
