import type { RuntimeHandlers } from '@podwright/cri';
import { unlessGone } from '../engine/unless-gone.ts';
import { CONTAINER_TYPE } from '../labels/labels.ts';
import { inspectOwn } from '../labels/own-container.ts';
import { MAX_GRACE_SECONDS } from '../limits.ts';
import { killContainer } from '../sandbox/take-back.ts';
import type { ContainerServices } from './container-services.ts';

/** StopContainer: asks, waits `timeout` seconds, kills. A success for what is not there or has ended. */
export function containerStop({ engine, failpoint }: ContainerServices): RuntimeHandlers['stopContainer'] {
  return async ({ containerId: id, timeout }, { signal }) => {
    const attempted = `stop container ${id}`;
    const container = await unlessGone(inspectOwn(engine, { type: CONTAINER_TYPE, id }, { attempted, signal }));
    if (!container?.State.Running) return {};
    const graceSeconds = Math.min(Math.max(0, Number(timeout)), MAX_GRACE_SECONDS);
    // a stop without grace would ask first, and be heeded now and then; now it waits for the end
    if (graceSeconds === 0) await killContainer(engine, container.Id, signal);
    await unlessGone(engine.containers.stop(container.Id, graceSeconds, signal));
    await failpoint('container-stop/stopped');
    return {};
  };
}
