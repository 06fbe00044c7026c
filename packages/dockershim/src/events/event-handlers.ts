import { errorCode } from '@podwright/base';
import { ContainerEventType, type RuntimeHandlers } from '@podwright/cri';
import type { DockershimServices } from '../services.ts';
import { PodEventSource } from './event-source.ts';
import type { PodEventKind } from './pod-events.ts';
import { PodSnapshots, type StatusVerbs } from './pod-snapshots.ts';

/** Verbs whose outcome the Engine does not tell of. */
type ToldVerbs = Pick<RuntimeHandlers, 'runPodSandbox' | 'startContainer'>;

const TYPES: Record<PodEventKind, ContainerEventType> = {
  created: ContainerEventType.CONTAINER_CREATED_EVENT,
  started: ContainerEventType.CONTAINER_STARTED_EVENT,
  stopped: ContainerEventType.CONTAINER_STOPPED_EVENT,
  deleted: ContainerEventType.CONTAINER_DELETED_EVENT,
};

/**
 * GetContainerEvents: what happens to sandboxes and containers from now on, also while the Engine is away and after. Each event has the
 * statuses of its pod as `verbs` tell them, then or a little later: a kubelet need not ask for them. A client that reads too slowly is
 * told to start over (`resource_exhausted`). The verbs that are given back tell beside: that a sandbox is ready, which it is once it has
 * its network, and that a container could not be started.
 */
export function eventHandlers(
  { engine, logger }: Pick<DockershimServices, 'engine' | 'logger'>,
  verbs: StatusVerbs & ToldVerbs,
): Pick<RuntimeHandlers, 'getContainerEvents'> & ToldVerbs {
  const source = new PodEventSource({ engine, logger });
  const snapshots = new PodSnapshots(engine, verbs);
  return {
    ...toldVerbs(verbs, source),
    getContainerEvents: (_request, context) => {
      const left = new AbortController();
      const subscription = source.subscribe(AbortSignal.any([context.signal, left.signal]));
      return (async function* () {
        try {
          for await (const { id, sandboxId, kind, atMs } of subscription) {
            const snapshot = await snapshots.take(sandboxId, atMs, context);
            const createdAt = BigInt(Math.round(atMs * 1e6));
            yield { containerId: id, containerEventType: TYPES[kind], createdAt, ...snapshot };
          }
        } finally {
          left.abort();
        }
      })();
    },
  };
}

function toldVerbs({ runPodSandbox, startContainer }: ToldVerbs, source: PodEventSource): ToldVerbs {
  return {
    runPodSandbox: async (request, context) => {
      const answer = await runPodSandbox(request, context);
      source.tell(answer.podSandboxId ?? '', 'started');
      return answer;
    },
    startContainer: async (request, context) => {
      try {
        return await startContainer(request, context);
      } catch (error) {
        // where the Engine has not answered it may have started it, and says so
        if (errorCode(error) !== 'unavailable' && !context.signal.aborted) source.tell(request.containerId, 'stopped');
        throw error;
      }
    },
  };
}
