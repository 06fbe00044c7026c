import { EventLoopBudget, errorMessage } from '@podwright/base';
import { type EventRecorder, eventSubject, formatTime, type Node, type Pod, type Taint } from '@podwright/kube-api';
import { isApiStatus, NODES, PODS } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import { placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import { AwakeClock } from './awake-clock.ts';
import { decideEvictions, type WaitingPods } from './decide-evictions.ts';

/** Interval between checks while pods are waiting for eviction, in milliseconds. */
const WAITING_MS = 1000;
/** Interval between checks while no pods are waiting for eviction, in milliseconds. `AwakeClock` must be read more than once every 15 s. */
const IDLE_MS = 10_000;

/** Evicts pods that do not tolerate a NoExecute taint, or whose `tolerationSeconds` have passed. */
export const taintEvictionController: Controller = async (parts) => {
  const { objects, logger, signal } = parts;
  const nodes = objects.of<Node>(NODES);
  const pods = objects.of<Pod>(PODS);
  if (!(await untilSynced(nodes, pods))) return;
  const clock = new AwakeClock(() => performance.now());
  const evictor = new TaintEvictor(parts, () => clock.now());
  const failure = 'failed to evict pods of nodes with taints';
  const sync = async (key: string) => {
    const isWaiting = await evictor.pass();
    queue.addAfter(key, isWaiting ? WAITING_MS : IDLE_MS);
  };
  const queue: WorkQueue = new WorkQueue({ sync, failure, maxRetryMs: IDLE_MS, logger, signal });
  nodes.onChange(({ object, before }) => {
    if (isTainted(object) || (before !== undefined && isTainted(before))) queue.add('pods');
  });
  pods.onChange(({ object }) => {
    const node = nodes.get({ name: object.spec.nodeName ?? '' });
    if (node !== undefined && isTainted(node)) queue.add('pods');
  });
  queue.add('pods');
  await queue.ended;
};

const noExecute = ({ spec }: Node): Taint[] => (spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');

const isTainted = (node: Node): boolean => noExecute(node).length > 0;

/** Finds pods on nodes with NoExecute taints, and evicts those that do not tolerate them. */
export class TaintEvictor {
  readonly #parts: ControllerParts;
  readonly #events: EventRecorder;
  readonly #clock: () => number;
  #waiting: WaitingPods = new Map();

  /** `clock` returns how long this process has been able to receive node changes, in milliseconds (`AwakeClock`). */
  constructor(parts: ControllerParts, clock: () => number) {
    this.#parts = parts;
    this.#events = parts.events('taint-eviction-controller');
    this.#clock = clock;
  }

  /** Checks all pods once. Returns whether any pods are waiting for eviction. */
  async pass(): Promise<boolean> {
    const { objects, signal } = this.#parts;
    const nowMs = this.#clock();
    const tainted = objects.of<Node>(NODES).list().filter(isTainted);
    if (tainted.length === 0 && this.#waiting.size === 0) return false;
    const taints = new Map(tainted.map((node) => [node.metadata.name ?? '', noExecute(node)]));
    const pods = objects.of<Pod>(PODS).list();
    const { evicted, spared, waiting } = decideEvictions({ pods, taints, waiting: this.#waiting, nowMs });
    this.#waiting = waiting;
    for (const pod of spared) this.#report(pod, 'Cancelling deletion of');
    const budget = new EventLoopBudget();
    for (const pod of evicted) {
      if (signal.aborted) return false;
      if (budget.isSpent) await budget.renew();
      await this.#evict(pod);
    }
    return waiting.size > 0;
  }

  #report(pod: Pod, what: string): void {
    this.#events.event(eventSubject(pod), 'Normal', 'TaintManagerEviction', `${what} Pod ${placeText(pod.metadata)}`);
  }

  /** Evicts a pod. A failure is logged, and the next pass retries. */
  async #evict(pod: Pod): Promise<void> {
    const { client, objects, now, signal, logger } = this.#parts;
    const { namespace, name, uid } = pod.metadata;
    const place = { namespace, name };
    const reason = { reason: 'DeletionByTaintManager', message: 'Taint manager: deleting due to NoExecute taint' };
    const condition = { type: 'DisruptionTarget', status: 'True', ...reason, lastTransitionTime: formatTime(now()) };
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    this.#report(pod, 'Marking for deletion');
    try {
      await client.patch(PODS, place, { type: 'strategic', body, subresource: 'status' }, { signal });
      await client.delete(PODS, place, { preconditions: { uid } }, { signal });
      objects.of<Pod>(PODS).deleting(place, uid);
    } catch (error) {
      signal.throwIfAborted();
      if (isApiStatus(error, 404) || isApiStatus(error, 409)) return;
      logger.warn({ pod: placeText(place), error: errorMessage(error) }, 'failed to evict a pod, trying again');
    }
  }
}
