import { PodwrightError } from '@podwright/base';
import type { RuntimeHandlers } from '@podwright/cri';
import { isReady } from '../../records/sandbox-record.ts';
import type { CriServices } from '../services/services.ts';

/** PortForward: returns a URL for connecting to the sandbox's ports. */
export function sandboxPortForward({
  sandboxes,
  streaming,
}: Pick<CriServices, 'sandboxes' | 'streaming'>): RuntimeHandlers['portForward'] {
  return async (request) => {
    const record = sandboxes.require(request.podSandboxId);
    if (!isReady(record)) {
      throw new PodwrightError('failed_precondition', `forward ports of sandbox ${record.id}: it is not ready`);
    }
    return { url: await streaming.portForward({ ...request, podSandboxId: record.id }) };
  };
}
