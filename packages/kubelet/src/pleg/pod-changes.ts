import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { ListedPod } from '../kuberuntime/runtime-pod-reader.ts';

/**
 * Whether a container or sandbox has been added or removed, or has changed state. `undefined`: the pod does not exist in the container
 * runtime. A container that is merely created does not count as a change, because its start follows.
 */
export function hasChanged(before: ListedPod | undefined, after: ListedPod | undefined): boolean {
  if (before !== undefined && after !== undefined && isSame(before, after)) return false;
  const old = statesOf(before);
  const now = statesOf(after);
  const ids = [...now.keys(), ...old.keys()];
  return ids.some((id) => now.get(id) !== old.get(id) && now.get(id) !== 'created');
}

/** Whether the exit reason of an already exited container has changed. */
export function hasOtherReason(before: RuntimePodStatus | undefined, after: RuntimePodStatus): boolean {
  if (before === undefined) return false;
  return after.containers.some(({ id, state, reason }) => {
    const known = before.containers.find((one) => one.id === id);
    return state === 'exited' && known?.state === 'exited' && known.reason !== reason;
  });
}

/** Allocation-free fast path for the common case: the IDs, the states and their order are all unchanged. */
function isSame(before: ListedPod, after: ListedPod): boolean {
  return areSame(before.sandboxes, after.sandboxes) && areSame(before.containers, after.containers);
}

function areSame(before: readonly Listed[], after: readonly Listed[]): boolean {
  if (before.length !== after.length) return false;
  return before.every(({ id, state }, index) => after[index]!.id === id && after[index]!.state === state);
}

type Listed = { id: string; state: string };

function statesOf(pod: ListedPod | undefined): Map<string, string> {
  const { sandboxes = [], containers = [] } = pod ?? {};
  return new Map([...sandboxes, ...containers].map(({ id, state }) => [id, state]));
}

/** Returns the pod as a relist would find it; `undefined` if it has neither sandboxes nor containers. */
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
