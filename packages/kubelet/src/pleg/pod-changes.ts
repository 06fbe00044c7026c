import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { ListedPod } from '../kuberuntime/runtime-pod-reader.ts';

/**
 * Whether a container or sandbox came, changed its state or went between two sights of a pod; `undefined` means that the runtime
 * had nothing of it. A container that was only created does not count: its start follows.
 */
export function hasChanged(before: ListedPod | undefined, after: ListedPod | undefined): boolean {
  const old = statesOf(before);
  const now = statesOf(after);
  const ids = [...now.keys(), ...old.keys()];
  return ids.some((id) => now.get(id) !== old.get(id) && now.get(id) !== 'created');
}

function statesOf(pod: ListedPod | undefined): Map<string, string> {
  const { sandboxes = [], containers = [] } = pod ?? {};
  return new Map([...sandboxes, ...containers].map(({ id, state }) => [id, state]));
}

/** What a listing would show of the pod; `undefined` if nothing of it is there. */
export function listedFrom(status: RuntimePodStatus): ListedPod | undefined {
  const { pod, sandboxes, containers } = status;
  if (sandboxes.length === 0 && containers.length === 0) return undefined;
  return {
    pod,
    sandboxes: sandboxes.map(({ id, ready, createdAtMs }) => ({
      id,
      state: ready ? 'ready' : 'notready',
      createdAtMs,
    })),
    containers: containers.map(({ id, name, state, sandboxId, createdAtMs }) => ({
      id,
      name,
      state,
      sandboxId,
      createdAtMs,
    })),
  };
}
