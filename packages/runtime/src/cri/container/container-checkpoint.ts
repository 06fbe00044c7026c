import type { RuntimeHandlers } from '@podwright/cri';
import type { CriServices } from '../services/services.ts';

/** What a checkpoint may take when the client names no time: much memory takes minutes to write. */
const DEFAULT_TIMEOUT_MS = 600_000;
/** Longest timer of Node.js. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * CheckpointContainer: writes the container's memory and files into the archive at `location`, as CRI-O and containerd do,
 * and lets it run on. `UNIMPLEMENTED` where CRIU is missing.
 */
export function containerCheckpoint({
  containers,
}: Pick<CriServices, 'containers'>): RuntimeHandlers['checkpointContainer'] {
  return async ({ containerId, location, timeout }, { signal }) => {
    const asked = Math.min(Number(timeout) * 1000, MAX_TIMEOUT_MS);
    await containers.checkpoint(containerId, { location, timeoutMs: asked > 0 ? asked : DEFAULT_TIMEOUT_MS }, signal);
    return {};
  };
}
