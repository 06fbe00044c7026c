import { EventLoopBudget, errorMessage } from '@podwright/base';
import { formatTime, type Node, type Pod } from '@podwright/kube-api';
import { isApiStatus, NODES, PODS } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import { isEnded } from '../pods/pod-state.ts';
import { decidePodGarbage, type PodRemoval } from './decide-pod-garbage.ts';

/** Interval between checks of all pods, in milliseconds (gcCheckPeriod). */
const PERIOD_MS = 20_000;

/** Removes pods of absent nodes, pods that no kubelet will stop, and pods in a terminal phase beyond a limit. */
export const podGarbageController: Controller = async (parts) => {
  const { objects, logger, signal } = parts;
  if (!(await untilSynced(objects.of<Pod>(PODS), objects.of<Node>(NODES)))) return;
  const collector = new PodGarbageCollector(parts);
  const queue: WorkQueue = new WorkQueue({
    sync: async (key) => {
      await collector.collect();
      queue.addAfter(key, PERIOD_MS);
    },
    failure: 'failed to remove pods',
    logger,
    signal,
  });
  queue.add('pods');
  await queue.ended;
};

export class PodGarbageCollector {
  readonly #parts: Omit<ControllerParts, 'events'>;
  #absentSince: ReadonlyMap<string, number> = new Map();

  constructor(parts: Omit<ControllerParts, 'events'>) {
    this.#parts = parts;
  }

  /** Checks all pods once. A pod that cannot be removed does not hold up the others. */
  async collect(): Promise<void> {
    const { objects, logger, now, signal } = this.#parts;
    const pods = objects.of<Pod>(PODS).list();
    const nodes = objects.of<Node>(NODES).list();
    const { removals, absentSince } = decidePodGarbage({ pods, nodes, absentSince: this.#absentSince, nowMs: now() });
    this.#absentSince = absentSince;
    const present = await this.#presentNodes(removals);
    const budget = new EventLoopBudget();
    for (const removal of removals) {
      if (signal.aborted) return;
      if (budget.isSpent) await budget.renew();
      if (removal.absentNode !== undefined && present.has(removal.absentNode)) continue;
      const { namespace, name } = removal.pod.metadata;
      await this.#remove(removal).catch((error: unknown) => {
        if (isApiStatus(error, 404)) return;
        logger.warn(
          { pod: `${namespace}/${name}`, error: errorMessage(error) },
          'failed to remove a pod, trying again',
        );
      });
    }
  }

  /** Returns the nodes named in `removals` that exist on the server although they are not in the cache. */
  async #presentNodes(removals: readonly PodRemoval[]): Promise<Set<string>> {
    const { client, signal } = this.#parts;
    const names = new Set(removals.map(({ absentNode }) => absentNode).filter((name) => name !== undefined));
    const present = new Set<string>();
    for (const name of names) {
      const isThere = await client.get(NODES, { name }, { signal }).then(
        () => true,
        (error: unknown) => !isApiStatus(error, 404),
      );
      if (isThere) present.add(name);
    }
    return present;
  }

  /**
   * Sets the pod's phase to Failed unless it is in a terminal phase, because no kubelet will do so, and then removes the pod without a
   * grace period.
   */
  async #remove({ pod, condition }: PodRemoval): Promise<void> {
    const { client, objects, now, signal } = this.#parts;
    const { namespace, name, uid } = pod.metadata;
    const place = { namespace, name };
    if (!isEnded(pod)) {
      const conditions = condition === undefined ? [] : [{ ...condition, lastTransitionTime: formatTime(now()) }];
      const status = { phase: 'Failed', ...(conditions.length === 0 ? {} : { conditions }) };
      const patch = { type: 'strategic' as const, body: { metadata: { uid }, status }, subresource: 'status' };
      await client.patch(PODS, place, patch, { signal });
    }
    await client.delete(PODS, place, { gracePeriodSeconds: 0, preconditions: { uid } }, { signal });
    objects.of<Pod>(PODS).deleting(place, uid);
  }
}
