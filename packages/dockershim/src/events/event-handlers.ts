import { errorCode } from '@podwright/base';
import { ContainerEventType, type RuntimeHandlers } from '@podwright/cri';
import type { DockershimServices } from '../services.ts';
import { PodEventSource } from './event-source.ts';
import type { PodEventKind } from './pod-events.ts';
import { PodSnapshots, type StatusVerbs } from './pod-snapshots.ts';

/** CRI calls that publish events the Engine does not send. */
type ReportingVerbs = Pick<RuntimeHandlers, 'runPodSandbox' | 'startContainer'>;

const TYPES: Record<PodEventKind, ContainerEventType> = {
  created: ContainerEventType.CONTAINER_CREATED_EVENT,
  started: ContainerEventType.CONTAINER_STARTED_EVENT,
  stopped: ContainerEventType.CONTAINER_STOPPED_EVENT,
  deleted: ContainerEventType.CONTAINER_DELETED_EVENT,
};

/**
 * GetContainerEvents: streams sandbox and container events from now on, even across Engine restarts. Each event carries the statuses of its
 * pod, read through `verbs` at the time of the event or slightly later, so that the kubelet need not request them. The stream of a client
 * that reads too slowly fails with `resource_exhausted`. The returned RunPodSandbox and StartContainer handlers add events that the Engine
 * does not send: sandbox ready (its network is set up), and container failed to start.
 */
export function eventHandlers(
  { engine, logger }: Pick<DockershimServices, 'engine' | 'logger'>,
  verbs: StatusVerbs & ReportingVerbs,
): Pick<RuntimeHandlers, 'getContainerEvents'> & ReportingVerbs {
  const source = new PodEventSource({ engine, logger });
  const snapshots = new PodSnapshots(engine, verbs);
  return {
    ...reportingVerbs(verbs, source),
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

function reportingVerbs({ runPodSandbox, startContainer }: ReportingVerbs, source: PodEventSource): ReportingVerbs {
  return {
    runPodSandbox: async (request, context) => {
      const answer = await runPodSandbox(request, context);
      source.report(answer.podSandboxId ?? '', 'started');
      return answer;
    },
    startContainer: async (request, context) => {
      try {
        return await startContainer(request, context);
      } catch (error) {
        // if the Engine did not respond, it might still have started the container, in which case it sends the start event itself
        if (errorCode(error) !== 'unavailable' && !context.signal.aborted)
          source.report(request.containerId, 'stopped');
        throw error;
      }
    },
  };
}
