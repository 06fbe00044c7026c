import type { ListedPod } from '../kuberuntime/runtime-pod-reader.ts';

/** What happened to a pod between two sights of it. */
export type PodLifecycleEvent = {
  type: 'ContainerStarted' | 'ContainerDied' | 'ContainerRemoved' | 'SandboxChanged';
  podUid: string;
  /** Id of the container or sandbox. */
  id: string;
};

/** Compares two listings of one pod; `undefined` means that the runtime had nothing of it. */
export function lifecycleEvents(before: ListedPod | undefined, after: ListedPod | undefined): PodLifecycleEvent[] {
  const podUid = (after ?? before)?.pod.uid;
  if (podUid === undefined) return [];
  const events: PodLifecycleEvent[] = [];
  const compare = (
    kind: 'containers' | 'sandboxes',
    eventOf: (state: string | undefined) => PodLifecycleEvent['type'] | undefined,
  ) => {
    const old = new Map((before?.[kind] ?? []).map(({ id, state }) => [id, state as string]));
    const now = new Map((after?.[kind] ?? []).map(({ id, state }) => [id, state as string]));
    for (const id of new Set([...old.keys(), ...now.keys()])) {
      if (old.get(id) === now.get(id)) continue;
      const type = eventOf(now.get(id));
      if (type !== undefined) events.push({ type, podUid, id });
    }
  };
  compare('containers', containerEvent);
  compare('sandboxes', () => 'SandboxChanged');
  return events;
}

function containerEvent(state: string | undefined): PodLifecycleEvent['type'] | undefined {
  if (state === undefined) return 'ContainerRemoved';
  if (state === 'running') return 'ContainerStarted';
  if (state === 'exited' || state === 'unknown') return 'ContainerDied';
  return undefined; // created: the start follows
}
