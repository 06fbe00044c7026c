import type { CriClient } from '@podwright/cri';

type RemoveContainer = CriClient['runtime']['removeContainer'];

/**
 * A client whose calls to remove a container are one while the first of them runs: a pod's sync and housekeeping may both find that
 * nobody needs it, and containerd fails whoever comes second.
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
