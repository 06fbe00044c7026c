import type { RuntimeHandlers } from '@podwright/cri';
import type { ContainerRecord } from '../../records/container-record.ts';
import { criContainerStatus } from '../messages/container-message.ts';
import type { CriServices } from '../services/services.ts';

type Needs = Pick<CriServices, 'containers' | 'images'>;

/** ContainerStatus: returns the status from memory and, if `verbose` is set, the OCI spec from the container's bundle. */
export function containerInspect(services: Needs): RuntimeHandlers['containerStatus'] {
  return async ({ containerId, verbose }) => {
    const record = services.containers.require(containerId);
    const info = verbose ? { info: details(services, record) } : undefined;
    return { status: criContainerStatus(record, services.images), info };
  };
}

/**
 * Returns the info of a verbose ContainerStatus. The OCI spec is inserted as text, because parsing and re-serializing it would cost more
 * than the rest of the call.
 */
function details({ containers }: Pick<Needs, 'containers'>, record: ContainerRecord): string {
  const { id, sandboxId: sandboxID, state } = record;
  const pid = state.phase === 'running' ? state.pid : 0;
  const known = JSON.stringify({ sandboxID, pid, removing: false, record });
  const runtimeSpec = containers.specText(id);
  return runtimeSpec === undefined ? known : `${known.slice(0, -1)},"runtimeSpec":${runtimeSpec}}`;
}
