import { errorMessage } from '@podwright/base';
import { type EventRecorder, eventSubject, matchesLabelSelector, type Pod } from '@podwright/kube-api';
import { isApiStatus, PODS } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import type { ObjectCache, ObjectChange } from '../framework/object-cache.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import { writeStatus } from '../framework/write-status.ts';
import {
  type BudgetStatus,
  POD_DISRUPTION_BUDGETS,
  type PodDisruptionBudget,
} from '../objects/pod-disruption-budget.ts';
import { subjectOf } from '../pods/pod-writer.ts';
import { selectorText } from '../pods/selector-text.ts';
import { decideBudget, failedStatus, isSameStatus, needsScale } from './budget-status.ts';
import { ExpectedScale } from './expected-scale.ts';
import { resetCondition, staleInMs } from './stale-target.ts';

/** Maintains the status of PodDisruptionBudgets, from which the API server decides whether to allow evictions. */
export const disruptionController: Controller = (parts) => new DisruptionController(parts).run();

class DisruptionController {
  readonly #parts: ControllerParts;
  readonly #budgets: ObjectCache<PodDisruptionBudget>;
  readonly #pods: ObjectCache<Pod>;
  readonly #scale: ExpectedScale;
  readonly #events: EventRecorder;
  readonly #queue: WorkQueue;
  /** Queue of the pods whose `DisruptionTarget` condition might become stale. */
  readonly #targets: WorkQueue;

  constructor(parts: ControllerParts) {
    const { objects, events, logger, signal } = parts;
    this.#parts = parts;
    this.#budgets = objects.of(POD_DISRUPTION_BUDGETS);
    this.#pods = objects.of(PODS);
    this.#scale = new ExpectedScale(parts);
    this.#events = events('controllermanager');
    const failure = 'failed to sync a PodDisruptionBudget';
    this.#queue = new WorkQueue({ sync: (key) => this.#sync(key), failure, logger, signal });
    const targetFailure = 'failed to reset a condition of a pod that was not disrupted';
    this.#targets = new WorkQueue({ sync: (key) => this.#syncTarget(key), failure: targetFailure, logger, signal });
  }

  async run(): Promise<void> {
    if (!(await untilSynced(this.#budgets, this.#pods, ...this.#scale.caches))) return;
    this.#budgets.onChange(({ object }) => this.#queue.add(placeText(object.metadata)));
    this.#pods.onChange((change) => this.#podChanged(change));
    this.#scale.onChange((namespace) => this.#scaleChanged(namespace));
    await Promise.all([this.#queue.ended, this.#targets.ended]);
  }

  #podChanged({ object, before }: ObjectChange<Pod>): void {
    const states = before === undefined ? [object] : [before, object];
    const budgets = this.#budgets.list(object.metadata.namespace);
    const matching = (pod: Pod) =>
      budgets.filter(({ spec }) => matchesLabelSelector(spec.selector, pod.metadata.labels));
    for (const { metadata } of states.flatMap(matching)) this.#queue.add(placeText(metadata));
    this.#warnOfMany(object, matching(object));
    if (staleInMs(object, this.#parts.now()) !== undefined) this.#targets.add(placeText(object.metadata));
  }

  /** Records a warning event for a pod that matches several budgets, because evicting such a pod fails. */
  #warnOfMany(pod: Pod, [first, ...others]: readonly PodDisruptionBudget[]): void {
    if (first === undefined || others.length === 0) return;
    const { namespace, name } = pod.metadata;
    const message = `Pod "${namespace}"/"${name}" matches multiple PodDisruptionBudgets.  Chose "${first.metadata.name}" arbitrarily.`;
    this.#events.event(eventSubject(pod), 'Warning', 'MultiplePodDisruptionBudgets', message);
  }

  /** Updates the budgets of a namespace after a controller has been resized. Upstream updates them only after the next pod change. */
  #scaleChanged(namespace: string): void {
    for (const budget of this.#budgets.list(namespace))
      if (needsScale(budget)) this.#queue.add(placeText(budget.metadata));
  }

  async #sync(key: string): Promise<void> {
    const budget = this.#budgets.get(placeOfText(key));
    if (budget === undefined) return;
    try {
      await this.#trySync(key, budget);
    } catch (error) {
      if (isApiStatus(error, 409) || this.#parts.signal.aborted) throw error;
      await this.#write(budget, failedStatus(budget, errorMessage(error), this.#parts.now()));
    }
  }

  async #trySync(key: string, budget: PodDisruptionBudget): Promise<void> {
    const { namespace } = budget.metadata;
    const pods = this.#pods
      .list(namespace)
      .filter(({ metadata }) => matchesLabelSelector(budget.spec.selector, metadata.labels));
    const report = (type: 'Normal' | 'Warning', reason: string, message: string) =>
      this.#events.event(subjectOf(POD_DISRUPTION_BUDGETS, budget), type, reason, message);
    if (pods.length === 0) report('Normal', 'NoPods', 'No matching pods found');
    const { scale, unmanaged } = await this.#scaleOf(budget, pods, report);
    if (unmanaged.length > 0) report('Warning', 'UnmanagedPods', unmanagedText(budget));
    const { status, notDeleted, recheckMs } = decideBudget({ budget, pods, scale, nowMs: this.#parts.now() });
    for (const pod of notDeleted) {
      const message = `Pod was expected by PDB ${namespace}/${budget.metadata.name} to be deleted but it wasn't`;
      this.#events.event(eventSubject(pod), 'Warning', 'NotDeleted', message);
    }
    if (recheckMs !== undefined) this.#queue.addAfter(key, recheckMs + 1);
    await this.#write(budget, status);
  }

  async #scaleOf(
    budget: PodDisruptionBudget,
    pods: readonly Pod[],
    report: (type: 'Warning', reason: string, message: string) => void,
  ): Promise<{ scale: number; unmanaged: string[] }> {
    if (!needsScale(budget)) return { scale: 0, unmanaged: [] };
    try {
      return await this.#scale.of(pods);
    } catch (error) {
      const message = `Failed to calculate the number of expected pods: ${errorMessage(error)}`;
      report('Warning', 'CalculateExpectedPodCountFailed', message);
      throw error;
    }
  }

  async #write(budget: PodDisruptionBudget, status: BudgetStatus): Promise<void> {
    if (isSameStatus(budget.status, status)) return;
    await writeStatus(this.#parts, POD_DISRUPTION_BUDGETS, { ...budget, status });
  }

  async #syncTarget(key: string): Promise<void> {
    const pod = this.#pods.get(placeOfText(key));
    const waitMs = pod && staleInMs(pod, this.#parts.now());
    if (pod === undefined || waitMs === undefined) return;
    if (waitMs > 0) return this.#targets.addAfter(key, waitMs);
    await writeStatus(this.#parts, PODS, resetCondition(pod, this.#parts.now()));
  }
}

function unmanagedText({ spec }: PodDisruptionBudget): string {
  return (
    `Pods selected by this PodDisruptionBudget (selector: ${selectorText(spec.selector)}) were found to be unmanaged. ` +
    'As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. ' +
    'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
  );
}
