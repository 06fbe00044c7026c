import { type RuntimeHandlers, verboseInfo } from '@podwright/cri';
import type { ContainerInspection } from '../engine/engine-types.ts';
import { CONTAINER_TYPE, SANDBOX_ID_LABEL } from '../labels/labels.ts';
import { inspectOwn } from '../labels/own-container.ts';
import { criContainerStatus } from './container-message.ts';
import type { ContainerServices } from './container-services.ts';
import { ImageNameCache } from './image-names.ts';

/** ContainerStatus. If `verbose` is set, also returns details from the Engine's inspection. */
export function containerInspect({ engine }: ContainerServices): RuntimeHandlers['containerStatus'] {
  const images = new ImageNameCache(engine);
  return async ({ containerId: id, verbose }, { signal }) => {
    const attempted = `inspect container ${id}`;
    const container = await inspectOwn(engine, { type: CONTAINER_TYPE, id }, { attempted, signal });
    const names = await images.find(container.Image, signal);
    return { status: criContainerStatus(container, names), info: verboseInfo(verbose, () => details(container)) };
  };
}

function details({ Config, State, Name, LogPath, HostConfig, RestartCount }: ContainerInspection): object {
  return {
    sandboxID: Config.Labels[SANDBOX_ID_LABEL],
    pid: State.Pid,
    ...{ name: Name.slice(1), state: State, engineLogPath: LogPath, hostConfig: HostConfig, restarts: RestartCount },
  };
}
