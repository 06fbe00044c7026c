/** Pods in the order in which they need attention, each with the reason in a sentence. Pure. */

import { podSummary } from '@podwright/kube-api';
import { explainPod, type Finding, isPodWell } from '@podwright/kube-view';
import type { EventObject, Pod } from '../api/objects.ts';

export type Level = 'failing' | 'starting' | 'restarted' | 'well' | 'completed';

export type PodView = {
  pod: Pod;
  level: Level;
  /** `ready/total`, such as `1/2`. */
  ready: string;
  /** kubectl's STATUS. */
  status: string;
  restarts: number;
  /** Why the pod is not ready; undefined for pods that are. */
  finding?: Finding;
};

const ORDER: readonly Level[] = ['failing', 'starting', 'restarted', 'well', 'completed'];
/** A pod whose container was restarted within this time is worth a look. */
const RECENT_RESTART_MS = 10 * 60_000;
/** A pod that is on its way for longer than this needs attention. */
const PATIENCE_MS = 60_000;

/** Describes a pod, from its object and its events, oldest first. */
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
  const isStarting = finding.cause === 'starting' && !(ageMs > PATIENCE_MS);
  return { ...seen, level: isStarting ? 'starting' : 'failing', finding };
}

/** Failing pods first; pods of one level by namespace and name, so that rows keep their places. */
export function byTrouble(a: PodView, b: PodView): number {
  const level = ORDER.indexOf(a.level) - ORDER.indexOf(b.level);
  return (
    level ||
    compareText(a.pod.metadata.namespace, b.pod.metadata.namespace) ||
    compareText(a.pod.metadata.name, b.pod.metadata.name)
  );
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Views of pods, each computed again only when the pod, its events or the minute have changed. */
export class PodViews {
  readonly #views = new WeakMap<Pod, { view: PodView; events: readonly EventObject[]; minute: number }>();

  /** Returns the views in the order of trouble. `eventsOf` returns the same list while nothing has changed. */
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
