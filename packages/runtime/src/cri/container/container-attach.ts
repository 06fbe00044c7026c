import { type RuntimeHandlers, requireStreams } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** Attach: returns a URL for the stdin, stdout and stderr streams of the container's init process. */
export function containerAttach({
  containers,
  streaming,
}: Pick<CriServices, 'containers' | 'streaming'>): RuntimeHandlers['attach'] {
  return async (request) => {
    const { id } = containers.requireRunning(request.containerId);
    requireStreams(`attach to container ${id}`, request);
    return { url: await streaming.attach({ ...request, containerId: id }) };
  };
}
