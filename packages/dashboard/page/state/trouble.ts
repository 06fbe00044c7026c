/** Sorts pods by how much they need attention, and finds out why they are not ready. Pure. */
import { podSummary } from '@podwright/kube-api';
import { explainPod, type Finding, isPodWell } from '@podwright/kube-view';
import type { EventObject, Pod } from '../api/objects.ts';
import { compareText } from './text.ts';

export type Level = 'failing' | 'starting' | 'restarted' | 'well' | 'completed';

export type PodView = {
  pod: Pod;
  level: Level;
  /** Ready and all containers, such as `1/2`. */
  ready: string;
  /** The column STATUS of `kubectl get pods`. */
  status: string;
  restarts: number;
  /** Why the pod is not ready; undefined for pods that are. */
  finding?: Finding;
};

/** The levels in the order of the list. */
const LEVELS: readonly Level[] = ['failing', 'starting', 'restarted', 'well', 'completed'];
/** Time after the restart of a container for which its pod has the level `restarted`. */
const RECENT_RESTART_MS = 10 * 60_000;
/** Age up to which a pod that is not ready has the level `starting` rather than `failing`. */
const MAX_START_MS = 60_000;

/** Describes a pod. `events` are those of the pod, oldest first; `now` is in Unix milliseconds. */
export function viewOf(pod: Pod, events: readonly EventObject[], now: number): PodView {
  const { ready, status, restarts, restartedAt } = podSummary(pod);
  const seen = { pod, ready, status, restarts };
  if (pod.status?.phase === 'Succeeded') return { ...seen, level: 'completed' };
  if (isPodWell(pod)) {
    const isRecent = restartedAt !== undefined && now - Date.parse(restartedAt) < RECENT_RESTART_MS;
    return { ...seen, level: isRecent ? 'restarted' : 'well' };
  }
  const known = events.map(({ type = '', reason = '', message = '', involvedObject }) => ({
    ...{ type, reason, message, involvedObject },
  }));
  const finding = explainPod({ pod, events: known, log: undefined, unboundClaims: [], nodes: [], now });
  const ageMs = now - Date.parse(pod.metadata.creationTimestamp ?? '');
  const isStarting = finding.cause === 'starting' && !(ageMs > MAX_START_MS);
  return { ...seen, level: isStarting ? 'starting' : 'failing', finding };
}

/** Compares pods by level, then by namespace and name, so that rows keep their positions. */
function byTrouble(a: PodView, b: PodView): number {
  const level = LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level);
  return (
    level ||
    compareText(a.pod.metadata.namespace, b.pod.metadata.namespace) ||
    compareText(a.pod.metadata.name, b.pod.metadata.name)
  );
}

/** Caches the views of pods. A view is computed again when the pod, its events or the minute of the clock have changed. */
export class PodViews {
  readonly #views = new WeakMap<Pod, { view: PodView; events: readonly EventObject[]; minute: number }>();

  /** Returns the views, sorted by level. `eventsOf` returns a pod's events, and must return the same list until they change. */
  of(pods: readonly Pod[], eventsOf: (uid: string) => readonly EventObject[], now: number): PodView[] {
    const minute = Math.floor(now / 60_000);
    const views = pods.map((pod) => {
      const events = eventsOf(pod.metadata.uid);
      const known = this.#views.get(pod);
      if (known !== undefined && known.events === events && known.minute === minute) return known.view;
      const view = viewOf(pod, events, now);
      this.#views.set(pod, { view, events, minute });
      return view;
    });
    return views.sort(byTrouble);
  }
}
