import type { RuntimeHandlers } from '@podwright/cri';
import type { DockershimServices } from '../services.ts';
import { containerCreate } from './container-create.ts';
import { containerList, containerStream } from './container-list.ts';
import { containerRemove } from './container-remove.ts';
import { containerReopenLog } from './container-reopen-log.ts';
import type { ContainerServices } from './container-services.ts';
import { containerStart } from './container-start.ts';
import { containerInspect } from './container-status.ts';
import { containerStop } from './container-stop.ts';
import { containerUpdate } from './container-update.ts';

/** CRI container calls, except streaming and statistics. CheckpointContainer is not implemented, because Docker has no equivalent. */
export function containerHandlers(
  { engine, logger, failpoint }: Pick<DockershimServices, 'engine' | 'logger' | 'failpoint'>,
  { facts, filesOf }: Pick<ContainerServices, 'facts' | 'filesOf'>,
) {
  const services = { engine, logger, failpoint, facts, filesOf };
  return {
    createContainer: containerCreate(services),
    startContainer: containerStart(services),
    stopContainer: containerStop(services),
    removeContainer: containerRemove(services),
    containerStatus: containerInspect(services),
    listContainers: containerList(services),
    streamContainers: containerStream(services),
    updateContainerResources: containerUpdate(services),
    reopenContainerLog: containerReopenLog(services),
  } satisfies Partial<RuntimeHandlers>;
}
