import type { RuntimeHandlers } from '@podwright/cri';
import type { ContainerRecord } from '../../records/container-record.ts';
import { criContainerStatus } from '../messages/container-message.ts';
import { verboseInfo } from '../messages/responses.ts';
import type { CriServices } from '../services/services.ts';

type Needs = Pick<CriServices, 'containers' | 'images'>;

/** ContainerStatus: from memory; with `verbose` also the specification that the container runs, from its bundle. */
export function containerInspect(services: Needs): RuntimeHandlers['containerStatus'] {
  return async ({ containerId, verbose }) => {
    const record = services.containers.require(containerId);
    const info = verboseInfo(verbose, () => details(services, record));
    return { status: criContainerStatus(record, services.images), info };
  };
}

function details({ containers }: Pick<Needs, 'containers'>, record: ContainerRecord): object {
  const { id, sandboxId, state } = record;
  const pid = state.phase === 'running' ? state.pid : 0;
  return { sandboxID: sandboxId, pid, removing: state.phase === 'removing', record, runtimeSpec: containers.spec(id) };
}
