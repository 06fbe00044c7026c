import { isSidecar, type Pod } from '../api/types.ts';

/**
 * True while the pod's next step waits for a container to end: an init container, or the containers of a pod that runs to its
 * end. Where the runtime does not tell of ends, they are looked for more often then.
 */
export function awaitsEnd(pod: Pod): boolean {
  const { initContainers = [], restartPolicy } = pod.spec;
  const runsInit = initContainers.some((container) => {
    const status = pod.status?.initContainerStatuses?.find(({ name }) => name === container.name);
    return !isSidecar(container) && status?.state.running !== undefined;
  });
  return runsInit || (restartPolicy !== 'Always' && pod.status?.phase === 'Running');
}
