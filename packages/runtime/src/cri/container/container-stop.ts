import { givenId, type RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** StopContainer: sends the stop signal, then SIGKILL after `timeout` seconds. Succeeds if the container does not exist or has exited. */
export function containerStop({ containers }: Pick<CriServices, 'containers'>): RuntimeHandlers['stopContainer'] {
  return async ({ containerId, timeout }, { signal }) => {
    const graceMs = Math.max(0, Number(timeout) * 1000);
    await containers.stop(givenId('stop container', containerId), graceMs, signal);
    return {};
  };
}
