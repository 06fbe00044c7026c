import { ContainerEventType, type RuntimeHandlers } from '@podwright/cri';
import { toNanoseconds } from '../../records/ids.ts';
import type { LifecycleEvent } from '../../records/lifecycle-events.ts';
import { criContainerStatus } from '../messages/container-message.ts';
import { criSandboxStatus } from '../messages/sandbox-message.ts';
import type { CriServices } from '../services/services.ts';

const KINDS: Record<LifecycleEvent['kind'], ContainerEventType> = {
  created: ContainerEventType.CONTAINER_CREATED_EVENT,
  started: ContainerEventType.CONTAINER_STARTED_EVENT,
  stopped: ContainerEventType.CONTAINER_STOPPED_EVENT,
  deleted: ContainerEventType.CONTAINER_DELETED_EVENT,
};

/**
 * GetContainerEvents: streams sandbox and container lifecycle events from the time of the call. A client that lists pods and containers
 * after receiving the response headers misses no change. A client that reads too slowly gets `resource_exhausted` and must resubscribe. As
 * in containerd, each event includes the statuses of the pod and all of its containers, so that the kubelet need not request them.
 */
export function events({
  events: source,
  images,
}: Pick<CriServices, 'events' | 'images'>): RuntimeHandlers['getContainerEvents'] {
  return (_request, { signal }) => {
    const subscription = source.subscribe(signal);
    return (async function* () {
      for await (const event of subscription) {
        yield {
          containerId: event.id,
          containerEventType: KINDS[event.kind],
          createdAt: toNanoseconds(event.atMs),
          podSandboxStatus: event.sandbox === undefined ? undefined : criSandboxStatus(event.sandbox),
          containersStatuses: event.containers.map((container) => criContainerStatus(container, images)),
        };
      }
    })();
  };
}
