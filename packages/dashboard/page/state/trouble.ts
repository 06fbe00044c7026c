/** Sorts pods by how much attention they need, and finds out why they are not ready. No I/O. */
import { podSummary } from '@podwright/kube-api';
import { explainPod, explainRestarts, type Finding, isPodWell } from '@podwright/kube-view';
import type { EventObject, Pod } from '../api/objects.ts';
import { compareText } from './text.ts';

/** `unsteady`: the pod is ready, but its containers keep restarting. `restarted`: a container has restarted recently. */
export type Level = 'failing' | 'unsteady' | 'starting' | 'restarted' | 'well' | 'completed';

export type PodView = {
  pod: Pod;
  level: Level;
  /** The number of ready containers and of all containers, such as `1/2`. */
  ready: string;
  /** The STATUS column of `kubectl get pods`. */
  status: string;
  restarts: number;
  /** Why the pod is not ready, or why its containers keep restarting. Undefined for other pods. */
  finding?: Finding;
};

/** All attention levels of pods, most urgent first. */
const LEVELS: readonly Level[] = ['failing', 'unsteady', 'starting', 'restarted', 'well', 'completed'];
/** How long after a container restart its pod is still shown as `restarted`. */
const RECENT_RESTART_MS = 10 * 60_000;
/** How long after its creation a pod that is not ready is shown as `starting` instead of `failing`. */
const MAX_START_MS = 60_000;

/** Describes a pod. `events`: the events of the pod, oldest first. `now`: in Unix milliseconds. */
export function viewOf(pod: Pod, events: readonly EventObject[], now: number): PodView {
  const { ready, status, restarts, restartedAt } = podSummary(pod);
  const seen = { pod, ready, status, restarts };
  if (pod.status?.phase === 'Succeeded') return { ...seen, level: 'completed' };
  const known = events.map(({ type = '', reason = '', message = '', involvedObject }) => ({
    ...{ type, reason, message, involvedObject },
  }));
  if (isPodWell(pod)) {
    const restarting = explainRestarts({ pod, events: known, log: undefined, now });
    if (restarting !== undefined) return { ...seen, level: 'unsteady', finding: restarting };
    const isRecent = restartedAt !== undefined && now - Date.parse(restartedAt) < RECENT_RESTART_MS;
    return { ...seen, level: isRecent ? 'restarted' : 'well' };
  }
  const finding = explainPod({ pod, events: known, log: undefined, unboundClaims: [], nodes: [], now });
  const ageMs = now - Date.parse(pod.metadata.creationTimestamp ?? '');
  const isStarting = finding.cause === 'starting' && !(ageMs > MAX_START_MS);
  return { ...seen, level: isStarting ? 'starting' : 'failing', finding };
}

/** Causes that the page's server explains better, because it reads the end of the failing container's log. */
const WITH_LOG = new Set(['crash', 'killed', 'exits-with-0', 'no-program', 'not-executable']);
/** Causes that the page's server explains better, because it reads the pod's claims, their events, or the nodes. */
const OF_OTHERS = new Set(['claim-pending', 'claim-missing', 'unschedulable', 'taint', 'cordoned']);

/**
 * What the page's server knows in addition about a pod with this view: the `log` of its container, which changes with each restart, or
 * `objects`, which change at any time; undefined if it knows no more than the page.
 */
export function askedFor({ finding, level }: PodView): 'log' | 'objects' | undefined {
  if (finding === undefined) return undefined;
  if (OF_OTHERS.has(finding.cause) || level === 'unsteady') return 'objects';
  return WITH_LOG.has(finding.cause) ? 'log' : undefined;
}

/** Whether a pod with this view is listed under Needs attention. */
export const needsAttention = ({ level }: PodView): boolean =>
  level === 'failing' || level === 'unsteady' || level === 'starting';

/** Compares pods by level, then by namespace and name, to keep the order of rows stable. */
function byTrouble(a: PodView, b: PodView): number {
  const level = LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level);
  return (
    level ||
    compareText(a.pod.metadata.namespace, b.pod.metadata.namespace) ||
    compareText(a.pod.metadata.name, b.pod.metadata.name)
  );
}

/** Caches the views of pods. A view is recomputed when its pod or events change, and every minute. */
export class PodViews {
  readonly #views = new WeakMap<Pod, { view: PodView; events: readonly EventObject[]; minute: number }>();

  /**
   * Returns the pods' views sorted by level. `eventsOf` returns a pod's events; it must return the same list as long as they have not
   * changed.
   */
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
