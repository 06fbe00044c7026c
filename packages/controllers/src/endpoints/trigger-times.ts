import type { Pod } from '@podwright/kube-api';
import type { Service } from '../objects/service.ts';
import { readyCondition } from '../pods/pod-state.ts';

/**
 * The times, in Unix milliseconds, that the last sync of a Service saw: its creation, and the readiness transitions of its pods by pod
 * name.
 */
type Seen = { service: number; pods: Map<string, number> };

/**
 * Finds the time of the change that triggered a sync, for the annotation `endpoints.kubernetes.io/last-change-trigger-time`: the earliest
 * readiness transition that is new since the last sync, or the creation of a new Service (TriggerTimeTracker).
 */
export class TriggerTimes {
  readonly #seen = new Map<string, Seen>();

  /**
   * Returns the time of the change that triggered this sync, in Unix milliseconds; `undefined` if no time has changed since the last sync.
   */
  next(key: string, service: Service, pods: readonly Pod[]): number | undefined {
    const before = this.#seen.get(key);
    const created = Date.parse(service.metadata.creationTimestamp ?? '');
    const times = new Map(pods.map((pod) => [pod.metadata.name, readyTime(pod)] as const));
    this.#seen.set(key, { service: created, pods: times });
    if (before === undefined) return Number.isNaN(created) ? undefined : created;
    const changed = [...times].filter(([name, time]) => time > (before.pods.get(name) ?? 0)).map(([, time]) => time);
    if (created > before.service) changed.push(created);
    return changed.length === 0 ? undefined : Math.min(...changed);
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }
}

function readyTime(pod: Pod): number {
  const time = Date.parse(readyCondition(pod)?.lastTransitionTime ?? '');
  return Number.isNaN(time) ? 0 : time;
}
