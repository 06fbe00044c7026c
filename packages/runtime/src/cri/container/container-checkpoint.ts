import type { RuntimeHandlers } from '@podwright/cri';
import { CHECKPOINT_TIMEOUT_MS } from '../../time-limits.ts';
import type { CriServices } from '../services/services.ts';

/**
 * CheckpointContainer: writes the container's memory and files to an archive at `location`, as CRI-O and containerd do. The container keeps
 * running. Fails with `UNIMPLEMENTED` if CRIU is not installed.
 */
export function containerCheckpoint({
  containers,
}: Pick<CriServices, 'containers'>): RuntimeHandlers['checkpointContainer'] {
  return async ({ containerId, location, timeout }, { signal }) => {
    const requestedMs = Number(timeout) * 1000;
    await containers.checkpoint(
      containerId,
      { location, timeoutMs: requestedMs > 0 ? requestedMs : CHECKPOINT_TIMEOUT_MS },
      signal,
    );
    return {};
  };
}
