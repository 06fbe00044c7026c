import type { CriClient } from '@podwright/cri';

type RemoveContainer = CriClient['runtime']['removeContainer'];

/**
 * Wraps a CRI client so that concurrent RemoveContainer calls for one container share a single call. A pod sync and garbage collection may
 * both remove a container, and containerd fails the second call.
 */
export function withSharedRemovals(cri: CriClient): CriClient {
  const running = new Map<unknown, ReturnType<RemoveContainer>>();
  const removeContainer: RemoveContainer = ({ containerId }, options) => {
    const first = running.get(containerId);
    if (first !== undefined) return first;
    const removal = cri.runtime.removeContainer({ containerId }, options).finally(() => running.delete(containerId));
    running.set(containerId, removal);
    return removal;
  };
  return { ...cri, runtime: { ...cri.runtime, removeContainer } };
}
