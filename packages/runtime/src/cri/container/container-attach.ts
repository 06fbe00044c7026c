import { PodwrightError } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** Attach: a URL at which the streams of the container's first process are. */
export function containerAttach({
  containers,
  streaming,
}: Pick<CriServices, 'containers' | 'streaming'>): RuntimeHandlers['attach'] {
  return async (request) => {
    const { id } = containers.requireRunning(request.containerId);
    if (request.tty && request.stderr) {
      throw new PodwrightError('invalid_argument', `attach to container ${id}: a terminal has no stderr of its own`);
    }
    if (!request.stdin && !request.stdout && !request.stderr) {
      throw new PodwrightError(
        'invalid_argument',
        `attach to container ${id}: one of stdin, stdout, stderr must be asked for`,
      );
    }
    return { url: await streaming.attach({ ...request, containerId: id }) };
  };
}
