import type { RuntimeHandlers } from '@podwright/cri';
import { unlessNotFound } from '../engine/unless-not-found.ts';
import { CONTAINER_TYPE } from '../labels/labels.ts';
import { inspectOwn } from '../labels/own-container.ts';
import { MAX_GRACE_SECONDS } from '../limits.ts';
import { killContainer } from '../sandbox/roll-back.ts';
import type { ContainerServices } from './container-services.ts';

/**
 * StopContainer: sends the stop signal, waits `timeout` seconds, and then kills the container. Succeeds if the container does not exist or
 * has exited.
 */
export function containerStop({ engine, failpoint }: ContainerServices): RuntimeHandlers['stopContainer'] {
  return async ({ containerId: id, timeout }, { signal }) => {
    const attempted = `stop container ${id}`;
    const container = await unlessNotFound(inspectOwn(engine, { type: CONTAINER_TYPE, id }, { attempted, signal }));
    if (!container?.State.Running) return {};
    const graceSeconds = Math.min(Math.max(0, Number(timeout)), MAX_GRACE_SECONDS);
    // even with a grace period of 0, the Engine would send the stop signal first; kill the container, so that `stop` only waits for it to
    // exit
    if (graceSeconds === 0) await killContainer(engine, container.Id, signal);
    await unlessNotFound(engine.containers.stop(container.Id, graceSeconds, signal));
    await failpoint('container-stop/stopped');
    return {};
  };
}
