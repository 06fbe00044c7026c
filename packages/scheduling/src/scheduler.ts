import { EventLoopBudget, errorMessage, type Logger } from '@podwright/base';
import { type EventRecorder, eventSubject, namespacedName, type Pod, podPriority } from '@podwright/kube-api';
import { isApiStatus, type KubeClient } from '@podwright/kube-client';
import type { ClusterCache } from './cluster/cluster-cache.ts';
import type { Claim } from './cluster/objects.ts';
import { type Decision, decidePod, type Nominated } from './decisions/decide-pod.ts';
import type { Preemption } from './decisions/preemption.ts';
import { isBound } from './filters/volume-filters.ts';
import { planVolumes } from './filters/volume-plan.ts';
import type { SchedulingQueue } from './queue/scheduling-queue.ts';
import { bind, clearNomination, evictVictim, writeWaiting } from './writes/pod-writes.ts';
import { bindVolumes } from './writes/volume-writes.ts';

export type SchedulerParts = {
  client: KubeClient;
  cache: ClusterCache;
  queue: SchedulingQueue;
  events: EventRecorder;
  /** Returns the current state of a pod. */
  pod: (pod: Pod) => Pod | undefined;
  claim: (claim: Claim) => Claim | undefined;
  logger: Logger;
  signal: AbortSignal;
};

const MAX_BINDINGS = 32;

/** Maximum length of an event's note (upstream's NoteLengthLimit). */
const MAX_NOTE_LENGTH = 1024;
const CUT = ' ...';

/** Schedules pods. Decides about one pod at a time, while bindings run concurrently with later decisions. */
export class Scheduler {
  readonly #parts: SchedulerParts;
  /** The nominated pods, by UID. */
  readonly #nominated = new Map<string, Nominated>();
  readonly #bindings = new Set<Promise<void>>();

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
  }

  /** Schedules pods until the signal aborts. */
  async run(): Promise<void> {
    const { queue, signal } = this.#parts;
    const budget = new EventLoopBudget();
    for (let pod = await queue.next(signal); pod !== undefined; pod = await queue.next(signal)) {
      await this.#schedule(pod);
      if (budget.isSpent) await budget.renew();
      while (this.#bindings.size >= MAX_BINDINGS) await Promise.race(this.#bindings);
    }
    await Promise.all(this.#bindings);
  }

  /** Records the nomination of a pod as reported by the API server. */
  nominated(pod: Pod, node: string): void {
    this.#nominated.set(pod.metadata.uid, { pod, node });
  }

  /** Forgets the nomination of a pod that was deleted or has been assigned. */
  forgetNomination({ metadata }: Pod): void {
    this.#nominated.delete(metadata.uid);
  }

  async #schedule(pod: Pod): Promise<void> {
    const { cache, queue, logger } = this.#parts;
    const key = namespacedName(pod);
    try {
      const decision = decidePod(pod, cache.snapshot(), [...this.#nominated.values()]);
      if (decision.kind === 'assign') this.#assign(pod, decision.node);
      else await this.#keepWaiting(pod, decision);
    } catch (error) {
      logger.warn({ pod: key, error: errorMessage(error) }, 'schedule a pod failed, trying again');
      queue.failed(key, { isError: true });
    }
  }

  #assign(pod: Pod, node: string): void {
    const { cache, queue } = this.#parts;
    const snapshot = cache.snapshot();
    const plan = planVolumes(pod, snapshot, snapshot.nodes.find(({ name }) => name === node)!);
    cache.assume(pod, node);
    queue.binding(namespacedName(pod));
    this.#nominated.delete(pod.metadata.uid);
    const binding = this.#bind(pod, node, plan).finally(() => this.#bindings.delete(binding));
    this.#bindings.add(binding);
  }

  /** Binds the pod's volumes, then the pod. Never rejects. */
  async #bind(pod: Pod, node: string, plan: ReturnType<typeof planVolumes>): Promise<void> {
    const { client, events, claim, signal } = this.#parts;
    try {
      await bindVolumes(plan, { client, node, claim, isBound, signal });
      await bind(client, pod, node);
      events.event(eventSubject(pod), 'Normal', 'Scheduled', `Successfully assigned ${namespacedName(pod)} to ${node}`);
    } catch (error) {
      await this.#bindingFailed(pod, error);
    }
  }

  async #bindingFailed(pod: Pod, error: unknown): Promise<void> {
    const { client, cache, queue, logger, signal } = this.#parts;
    cache.forget(pod);
    queue.clusterChanged(); // others may fit now
    const current = this.#parts.pod(pod);
    const key = namespacedName(pod);
    const isOver = current === undefined || current.metadata.uid !== pod.metadata.uid || !queue.has(key);
    if (signal.aborted || isOver) return;
    queue.put(current); // changes reported while the pod was assumed were ignored
    queue.failed(key, { isError: true });
    // 404: the pod, or an object that it needs, was deleted; 409: another client was faster, or has changed what the pod needs
    if (isApiStatus(error, 404) || isApiStatus(error, 409)) return;
    const message = errorMessage(error);
    logger.warn({ pod: key, error: message }, 'bind a pod failed, trying again');
    this.#warn(current, message);
    await this.#tryWrite(pod, () => writeWaiting(client, current, { reason: 'SchedulerError', message }));
  }

  async #keepWaiting(pod: Pod, decision: Decision & { kind: 'wait' }): Promise<void> {
    const { client, queue } = this.#parts;
    const { preemption, clearsNomination, message } = decision;
    const current = this.#parts.pod(pod) ?? pod;
    if (clearsNomination) this.#nominated.delete(pod.metadata.uid);
    if (preemption !== undefined) this.#nominated.set(pod.metadata.uid, { pod, node: preemption.node });
    queue.failed(namespacedName(pod), { isError: false });
    this.#warn(pod, message);
    const nominatedNodeName = preemption?.node ?? (clearsNomination ? null : undefined);
    await this.#tryWrite(pod, () =>
      writeWaiting(client, current, { reason: 'Unschedulable', message, nominatedNodeName }),
    );
    if (preemption !== undefined) await this.#preempt(pod, preemption);
  }

  async #preempt(pod: Pod, { node, victims }: Preemption): Promise<void> {
    const { client, events } = this.#parts;
    for (const other of this.#lessImportant(pod, node)) {
      this.#nominated.delete(other.metadata.uid);
      await this.#tryWrite(other, () => clearNomination(client, other));
    }
    const left = victims.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const evict = async (victim: Pod) => {
      await evictVictim(client, victim);
      const message = `Preempted by pod ${pod.metadata.uid} on node ${node}`;
      events.event(eventSubject(victim), 'Normal', 'Preempted', message);
    };
    await Promise.all(left.map(evict));
  }

  /**
   * Returns the pods of lower priority that are nominated for this node. Their nominations are withdrawn, so they have to look for a
   * different node.
   */
  #lessImportant(pod: Pod, node: string): Pod[] {
    const others = [...this.#nominated.values()].filter((other) => other.node === node);
    return others.map((other) => other.pod).filter((other) => podPriority(other) < podPriority(pod));
  }

  #warn(pod: Pod, message: string): void {
    const note = message.length <= MAX_NOTE_LENGTH ? message : message.slice(0, MAX_NOTE_LENGTH - CUT.length) + CUT;
    this.#parts.events.event(eventSubject(pod), 'Warning', 'FailedScheduling', note);
  }

  /** Writes a pod's status. Failures are only logged, because the status is written again after the pod's next scheduling attempt. */
  async #tryWrite(pod: Pod, write: () => Promise<void>): Promise<void> {
    const { logger, signal } = this.#parts;
    try {
      await write();
    } catch (error) {
      if (signal.aborted || isApiStatus(error, 404) || isApiStatus(error, 409)) return;
      logger.warn({ pod: namespacedName(pod), error: errorMessage(error) }, "write a pod's status failed");
    }
  }
}
