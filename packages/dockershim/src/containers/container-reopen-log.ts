import { PodwrightError } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import { CONTAINER_TYPE } from '../labels/labels.ts';
import { requireRunning } from '../labels/own-container.ts';
import type { ContainerServices } from './container-services.ts';
import { linkContainerLog } from './container-start.ts';

/**
 * ReopenContainerLog: always fails, because Docker rotates its logs itself and cannot reopen them. Before failing, restores the log
 * symlink, which the kubelet has renamed: if the kubelet were killed before handling the error, it would not find the log again.
 */
export function containerReopenLog(services: ContainerServices): RuntimeHandlers['reopenContainerLog'] {
  return async ({ containerId: id }, { signal }) => {
    const attempted = `reopen the log of container ${id}`;
    const container = await requireRunning(services.engine, { type: CONTAINER_TYPE, id }, { attempted, signal });
    await linkContainerLog(services, container, signal);
    throw new PodwrightError(
      'unimplemented',
      `${attempted}: Docker rotates logs itself, and only for new containers and if configured: set "log-opts": {"max-size": "10m", "max-file": "5"} in /etc/docker/daemon.json`,
    );
  };
}
