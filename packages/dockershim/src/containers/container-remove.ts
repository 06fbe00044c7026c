import type { RuntimeHandlers } from '@podwright/cri';
import { removeContainer } from '../engine/remove-container.ts';
import { unlessNotFound } from '../engine/unless-not-found.ts';
import { CONTAINER_TYPE, LOG_PATH_LABEL } from '../labels/labels.ts';
import { inspectOwn } from '../labels/own-container.ts';
import { unlinkLog } from '../logs/log-link.ts';
import type { ContainerServices } from './container-services.ts';

/**
 * RemoveContainer: removes the log symlink and then the container, killing it if it is running. The symlink is removed first, because its
 * path is stored only in the container's labels. Succeeds if the container does not exist.
 */
export function containerRemove({ engine, failpoint }: ContainerServices): RuntimeHandlers['removeContainer'] {
  return async ({ containerId: id }, { signal }) => {
    const attempted = `remove container ${id}`;
    const container = await unlessNotFound(inspectOwn(engine, { type: CONTAINER_TYPE, id }, { attempted, signal }));
    if (container === undefined) return {};
    const link = container.Config.Labels[LOG_PATH_LABEL] ?? '';
    if (link !== '') await unlinkLog(link, container.Id);
    await failpoint('container-remove/log-unlinked');
    await removeContainer(engine, container.Id, signal);
    await failpoint('container-remove/removed');
    return {};
  };
}
