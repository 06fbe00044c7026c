import { isDeepStrictEqual } from 'node:util';
import { errorMessage } from '@podwright/base';
import type { EventRecorder, Pod, Resource } from '@podwright/kube-api';
import { apiMessage, isApiStatus, PODS } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import { writeStatus } from '../framework/write-status.ts';
import {
  type AutoscalerStatus,
  HORIZONTAL_POD_AUTOSCALERS,
  type HorizontalPodAutoscaler,
  POD_METRICS,
  type PodMetrics,
} from '../objects/horizontal-pod-autoscaler.ts';
import { subjectOf } from '../pods/pod-writer.ts';
import {
  decideScaling,
  rescaled,
  rescaleFailed,
  type ScalingDecision,
  type ScalingEvent,
  type ScalingState,
  scaleUnknown,
} from './decide-scaling.ts';
import type { KnownUse } from './metric-proposals.ts';
import { readScale, type Scale, targetResource, writeScale } from './scale-target.ts';
import { NO_HISTORY, type ScalingHistory } from './scaling-limits.ts';

/** How often each autoscaler is evaluated, in milliseconds (horizontal-pod-autoscaler-sync-period). */
const PERIOD_MS = 15_000;

/** Scales workloads by CPU and memory usage, read from the `metrics.k8s.io` API. */
export const autoscalingController: Controller = (parts) => new AutoscalingController(parts, PERIOD_MS).run();

/** Like `autoscalingController`, but with a different interval. For tests. */
export const autoscalingEvery =
  (periodMs: number): Controller =>
  (parts) =>
    new AutoscalingController(parts, periodMs).run();

class AutoscalingController {
  readonly #parts: ControllerParts;
  readonly #periodMs: number;
  readonly #autoscalers: ObjectCache<HorizontalPodAutoscaler>;
  readonly #events: EventRecorder;
  readonly #queue: WorkQueue;
  readonly #histories = new Map<string, ScalingHistory>();
  /** UIDs of the pods that each autoscaler selected when it was last evaluated, keyed by `NAMESPACE/NAME` of the autoscaler. */
  readonly #selected = new Map<string, ReadonlySet<string>>();

  constructor(parts: ControllerParts, periodMs: number) {
    const { objects, events, logger, signal } = parts;
    this.#parts = parts;
    this.#periodMs = periodMs;
    this.#autoscalers = objects.of(HORIZONTAL_POD_AUTOSCALERS);
    this.#events = events('horizontal-pod-autoscaler');
    const failure = 'failed to sync a HorizontalPodAutoscaler';
    this.#queue = new WorkQueue({ sync: (key) => this.#sync(key), failure, logger, signal });
  }

  async run(): Promise<void> {
    if (!(await untilSynced(this.#autoscalers))) return;
    this.#autoscalers.onChange(({ type, object }) => {
      const key = placeText(object.metadata);
      if (type === 'DELETED') this.#forget(key);
      else this.#queue.addAfter(key, this.#periodMs);
    });
    await this.#queue.ended;
  }

  #forget(key: string): void {
    this.#histories.delete(key);
    this.#selected.delete(key);
  }

  async #sync(key: string): Promise<void> {
    const autoscaler = this.#autoscalers.get(placeOfText(key));
    if (autoscaler === undefined) return;
    this.#queue.addAfter(key, this.#periodMs);
    const { namespace } = autoscaler.metadata;
    const { scaleTargetRef: target } = autoscaler.spec;
    let scale: Scale;
    let resource: Resource;
    try {
      resource = await targetResource(this.#parts, target);
      scale = await readScale(this.#parts, resource, { namespace, name: target.name });
    } catch (error) {
      this.#parts.signal.throwIfAborted();
      const message = apiMessage(error);
      this.#report(autoscaler, [{ type: 'Warning', reason: 'FailedGetScale', message }]);
      return this.#write(autoscaler, scaleUnknown(autoscaler, message, this.#parts.now()));
    }
    const state = await this.#stateOf(key, autoscaler, scale);
    const decision = decideScaling(state);
    this.#report(autoscaler, decision.events);
    this.#histories.set(key, decision.history);
    const { rescale } = decision;
    const write = (replicas: number) => writeScale(this.#parts, { resource, scale }, replicas);
    const status = rescale === undefined ? decision.status : await this.#apply(state, { ...decision, rescale }, write);
    await this.#write(autoscaler, status);
  }

  async #stateOf(key: string, autoscaler: HorizontalPodAutoscaler, { spec, status }: Scale): Promise<ScalingState> {
    const { namespace } = autoscaler.metadata;
    const { client, signal, now } = this.#parts;
    const selector = status?.selector ?? '';
    const currentReplicas = spec?.replicas ?? 0;
    const history = this.#histories.get(key) ?? NO_HISTORY;
    const labels = { namespace, labelSelector: selector };
    const pods = selector === '' ? [] : (await client.list<Pod>(PODS, labels, { signal })).items;
    this.#selected.set(key, new Set(pods.map(({ metadata }) => metadata.uid)));
    const readsUse = (autoscaler.spec.metrics ?? []).some(({ type }) => type.endsWith('Resource')) && selector !== '';
    const use = readsUse ? await this.#use(labels) : { items: [] };
    const selectedBy = this.#selectedBy(key, namespace);
    return { autoscaler, currentReplicas, selector, selectedBy, pods, use, history, nowMs: now() };
  }

  async #use(labels: { namespace: string; labelSelector: string }): Promise<KnownUse> {
    const { client, signal } = this.#parts;
    try {
      return { items: (await client.list<PodMetrics>(POD_METRICS, labels, { signal })).items };
    } catch (error) {
      signal.throwIfAborted();
      const absent = 'the server could not find the requested resource (get pods.metrics.k8s.io)';
      return { error: isApiStatus(error, 404) ? absent : apiMessage(error) };
    }
  }

  /** Returns the autoscaler `key` and all others that select any of its pods, in Go's notation: `{NAME NAMESPACE}`. */
  #selectedBy(key: string, namespace: string): string[] {
    const own = this.#selected.get(key)!;
    return this.#autoscalers
      .list(namespace)
      .filter(({ metadata }) => {
        const others = this.#selected.get(placeText(metadata));
        return placeText(metadata) === key || [...(others ?? [])].some((uid) => own.has(uid));
      })
      .map(({ metadata }) => `{${metadata.name} ${metadata.namespace}}`);
  }

  async #apply(
    state: ScalingState,
    decision: ScalingDecision & Required<Pick<ScalingDecision, 'rescale'>>,
    write: (replicas: number) => Promise<void>,
  ): Promise<AutoscalerStatus> {
    const { autoscaler } = state;
    try {
      await write(decision.rescale.replicas);
    } catch (error) {
      this.#parts.signal.throwIfAborted();
      const failed = rescaleFailed(state, decision, apiMessage(error));
      this.#report(autoscaler, [failed.event]);
      return failed.status;
    }
    const { status, event, history } = rescaled(state, decision);
    this.#histories.set(placeText(autoscaler.metadata), history);
    this.#report(autoscaler, [event]);
    return status;
  }

  #report(autoscaler: HorizontalPodAutoscaler, events: readonly ScalingEvent[]): void {
    const subject = subjectOf(HORIZONTAL_POD_AUTOSCALERS, autoscaler);
    for (const { type, reason, message } of events) this.#events.event(subject, type, reason, message);
  }

  async #write(autoscaler: HorizontalPodAutoscaler, status: AutoscalerStatus): Promise<void> {
    if (isDeepStrictEqual(autoscaler.status, status)) return;
    try {
      await writeStatus(this.#parts, HORIZONTAL_POD_AUTOSCALERS, { ...autoscaler, status });
    } catch (error) {
      if (isApiStatus(error, 409) || isApiStatus(error, 404)) return; // the next decision reads the object again
      this.#parts.signal.throwIfAborted();
      this.#report(autoscaler, [{ type: 'Warning', reason: 'FailedUpdateStatus', message: errorMessage(error) }]);
      throw error;
    }
  }
}
