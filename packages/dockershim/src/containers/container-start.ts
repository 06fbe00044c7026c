import { PodwrightError } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import type { ContainerInspection } from '../engine/engine-types.ts';
import { CONTAINER_TYPE, LOG_PATH_LABEL } from '../labels/labels.ts';
import { inspectOwn } from '../labels/own-container.ts';
import { engineLogPath, linkLog } from '../logs/log-link.ts';
import { phaseOf } from './container-phase.ts';
import type { ContainerServices } from './container-services.ts';

/**
 * StartContainer: starts the process of a created container. Succeeds if it is already running. The log is symlinked before the start so
 * that the client does not miss the first line. If the process cannot be started, the container exits with the OCI runtime's error message.
 */
export function containerStart(services: ContainerServices): RuntimeHandlers['startContainer'] {
  const { engine, failpoint } = services;
  return async ({ containerId }, { signal }) => {
    const attempted = `start container ${containerId}`;
    const container = await inspectOwn(engine, { type: CONTAINER_TYPE, id: containerId }, { attempted, signal });
    const phase = phaseOf(container);
    if (phase === 'running') return {};
    if (phase === 'exited')
      throw new PodwrightError(
        'failed_precondition',
        `${attempted}: it has exited, and a container cannot be started again`,
      );
    await linkContainerLog(services, container, signal);
    await failpoint('container-start/log-linked');
    await engine.containers.start(container.Id, signal);
    await failpoint('container-start/started');
    return {};
  };
}

/** Creates a symlink from the CRI log path to the Engine's log file, if the container has both. */
export async function linkContainerLog(
  { facts }: Pick<ContainerServices, 'facts'>,
  container: ContainerInspection,
  signal: AbortSignal,
): Promise<void> {
  const link = container.Config.Labels[LOG_PATH_LABEL] ?? '';
  if (link === '') return;
  const target = engineLogPath(container, (await facts.info(signal)).DockerRootDir);
  if (target !== undefined) await linkLog(link, target);
}
