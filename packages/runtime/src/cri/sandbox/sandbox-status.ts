import { type RuntimeHandlers, verboseInfo } from '@podwright/cri';
import { toNanoseconds } from '../../records/ids.ts';
import { criContainerStatus } from '../messages/container-message.ts';
import { criSandboxStatus } from '../messages/sandbox-message.ts';
import type { CriServices } from '../services/services.ts';

/** PodSandboxStatus: returns the status of a sandbox and its containers, from memory unless `verbose` is set. */
export function sandboxInspect(
  services: Pick<CriServices, 'sandboxes' | 'containers' | 'controllers' | 'images' | 'clock'>,
): RuntimeHandlers['podSandboxStatus'] {
  const { sandboxes, containers, controllers, images, clock } = services;
  return async ({ podSandboxId, verbose }) => {
    const record = sandboxes.require(podSandboxId);
    const pod = containers.list().filter(({ sandboxId }) => sandboxId === record.id);
    // the sandbox's controller might no longer be configured; then return only the sandbox's record
    const controller = controllers.find(record);
    const more = verbose ? await controller?.describe?.(record) : {};
    const details = { controller: controller?.name, netns: controller?.netnsPath(record), ...more, record };
    return {
      status: criSandboxStatus(record),
      containersStatuses: pod.map((container) => criContainerStatus(container, images)),
      timestamp: toNanoseconds(clock.now()),
      info: verboseInfo(verbose, () => details),
    };
  };
}
