import { background, pause } from '@podwright/base';
import { type EventRecorder, isStaticPod } from '@podwright/kube-api';
import { isShutDown } from '../kubecontainer/sync-result.ts';
import type { PodEnder } from '../node-shutdown/end-pods.ts';
import { NodeShutdown } from '../node-shutdown/node-shutdown.ts';
import { ShutdownRecord } from '../node-shutdown/shutdown-record.ts';
import type { KubeletOptions } from '../options.ts';
import type { RuntimeState } from '../runtime-state/runtime-state.ts';
import type { PodSync } from './pod-sync.ts';

export function createNodeShutdown(options: KubeletOptions, events: EventRecorder): NodeShutdown {
  const { shutdownPeriods: periods, nodeName, rootDir, logger, metrics } = options;
  return new NodeShutdown({ periods, nodeName, events, logger, record: new ShutdownRecord(rootDir, logger, metrics) });
}

/** Returns the reasons why the node is not ready, in upstream's wording and order. */
export function nodeProblems(
  runtimeState: Pick<RuntimeState, 'runtimeErrors' | 'networkError'>,
  shutdown: Pick<NodeShutdown, 'problem'>,
): string[] {
  const problems = [...runtimeState.runtimeErrors(), runtimeState.networkError(), shutdown.problem()];
  return problems.filter((problem) => problem !== undefined);
}

const NOT_ENDED = 'a pod could not be ended';

/** Returns the interface for terminating the node's pods before the host shuts down. */
export function podEnder({ options, events, sync }: Ending): PodEnder {
  const { workers, statuses, manager } = sync;
  const { logger } = options;
  return {
    ...{ events, logger },
    pods: () => workers.unendedPods(),
    end: (pod, how) => background(logger, NOT_ENDED, workers.end(pod, { ...how, remove: false })),
    whenStopped: (podUid) => workers.whenStopped(podUid),
    whenReleased: (podUid, signal) => whenReleased(sync, podUid, signal),
    sleep: pause,
    bringBack: () => {
      for (const pod of manager.list()) {
        if (!isStaticPod(pod) || !isShutDown(statuses.get(pod.metadata.uid))) continue;
        background(logger, NOT_ENDED, workers.end(pod, { remove: true, keepsRecreation: true }));
        workers.update(pod);
      }
    },
  };
}

type Ending = { options: KubeletOptions; events: EventRecorder; sync: PodSync };

function whenReleased({ workers, stopped }: PodSync, podUid: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = () => {
    const phase = workers.phaseOf(podUid);
    if (phase === undefined || phase === 'terminated' || phase === 'removed') resolve();
  };
  const unsubscribe = stopped.subscribe((uid) => uid === podUid && look());
  signal.addEventListener('abort', () => resolve(), { once: true });
  look();
  return promise.finally(unsubscribe);
}
