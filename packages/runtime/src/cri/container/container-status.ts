import type { RuntimeHandlers } from '@podwright/cri';
import type { ContainerRecord } from '../../records/container-record.ts';
import { criContainerStatus } from '../messages/container-message.ts';
import { verboseInfo } from '../messages/responses.ts';
import type { CriServices } from '../services/services.ts';

type Needs = Pick<CriServices, 'containers' | 'sandboxes' | 'specs' | 'images'>;

/** ContainerStatus: from memory; with `verbose` the OCI specification, too. */
export function containerInspect(services: Needs): RuntimeHandlers['containerStatus'] {
  return async ({ containerId, verbose }, { signal }) => {
    const record = services.containers.require(containerId);
    const shown = verbose ? await details(services, record, signal) : {};
    const info = verboseInfo(verbose, () => shown);
    return { status: criContainerStatus(record, services.images), info };
  };
}

async function details({ sandboxes, specs }: Needs, record: ContainerRecord, signal: AbortSignal): Promise<object> {
  const pid = record.state.phase === 'running' ? record.state.pid : 0;
  const sandbox = sandboxes.find(record.sandboxId);
  const runtimeSpec = sandbox === undefined || pid === 0 ? undefined : await specs.build(record, sandbox, signal);
  return { sandboxID: record.sandboxId, pid, removing: record.state.phase === 'removing', record, runtimeSpec };
}
