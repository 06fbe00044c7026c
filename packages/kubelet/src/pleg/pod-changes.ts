import type { RuntimePodStatus } from '../kubecontainer/runtime-pod.ts';
import type { ListedPod } from '../kuberuntime/runtime-pod-reader.ts';

/**
 * Whether a container or sandbox came, changed its state or went between two sights of a pod; `undefined` means that the runtime
 * had nothing of it. A container that was only created does not count: its start follows.
 */
export function hasChanged(before: ListedPod | undefined, after: ListedPod | undefined): boolean {
  if (before !== undefined && after !== undefined && isSame(before, after)) return false;
  const old = statesOf(before);
  const now = statesOf(after);
  const ids = [...now.keys(), ...old.keys()];
  return ids.some((id) => now.get(id) !== old.get(id) && now.get(id) !== 'created');
}

/** Whether a container's end, which was known, has another reason by now. */
export function hasOtherReason(before: RuntimePodStatus | undefined, after: RuntimePodStatus): boolean {
  if (before === undefined) return false;
  return after.containers.some(({ id, state, reason }) => {
    const known = before.containers.find((one) => one.id === id);
    return state === 'exited' && known?.state === 'exited' && known.reason !== reason;
  });
}

/** The same in the same order, as pods are most of the time: nothing is made to see that. */
function isSame(before: ListedPod, after: ListedPod): boolean {
  return areSame(before.sandboxes, after.sandboxes) && areSame(before.containers, after.containers);
}

function areSame(before: readonly Sighted[], after: readonly Sighted[]): boolean {
  if (before.length !== after.length) return false;
  return before.every(({ id, state }, index) => after[index]!.id === id && after[index]!.state === state);
}

type Sighted = { id: string; state: string };

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
