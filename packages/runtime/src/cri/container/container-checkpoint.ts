import type { RuntimeHandlers } from '@podwright/cri';
import { CHECKPOINT_TIMEOUT_MS } from '../../time-limits.ts';
import type { CriServices } from '../services/services.ts';

/**
 * CheckpointContainer: writes the container's memory and files into the archive at `location`, as CRI-O and containerd do,
 * and lets it run on. `UNIMPLEMENTED` where CRIU is missing.
 */
export function containerCheckpoint({
  containers,
}: Pick<CriServices, 'containers'>): RuntimeHandlers['checkpointContainer'] {
  return async ({ containerId, location, timeout }, { signal }) => {
    const asked = Number(timeout) * 1000;
    await containers.checkpoint(
      containerId,
      { location, timeoutMs: asked > 0 ? asked : CHECKPOINT_TIMEOUT_MS },
      signal,
    );
    return {};
  };
}
