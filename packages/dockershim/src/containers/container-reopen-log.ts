import { PodwrightError } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import { CONTAINER_TYPE } from '../labels/labels.ts';
import { requireRunning } from '../labels/own-container.ts';
import type { ContainerServices } from './container-services.ts';
import { linkContainerLog } from './container-start.ts';

/**
 * ReopenContainerLog: Docker writes its logs itself and opens none anew, so this is always an error. A client that has moved the link
 * away, which is all that it can move, finds it again: one that was killed then would never see the log any more.
 */
export function containerReopenLog(services: ContainerServices): RuntimeHandlers['reopenContainerLog'] {
  return async ({ containerId: id }, { signal }) => {
    const attempted = `reopen the log of container ${id}`;
    const container = await requireRunning(services.engine, { type: CONTAINER_TYPE, id }, { attempted, signal });
    await linkContainerLog(services, container, signal);
    throw new PodwrightError(
      'unimplemented',
      `${attempted}: Docker rotates logs itself, and only new containers' if it is told to: set "log-opts": {"max-size": "10m", "max-file": "5"} in /etc/docker/daemon.json`,
    );
  };
}
