/** Decides the number of replicas for one autoscaler (upstream's podautoscaler/horizontal.go, reconcileAutoscaler). Pure. */
import type { EventType, Pod } from '@podwright/kube-api';
import { formatTime } from '@podwright/kube-api';
import type {
  AutoscalerCondition,
  AutoscalerStatus,
  HorizontalPodAutoscaler,
  MetricStatus,
} from '../objects/horizontal-pod-autoscaler.ts';
import { type ConditionChange, withCondition } from './autoscaler-conditions.ts';
import { type KnownUse, type MetricFailure, type MetricProposal, proposeForMetric } from './metric-proposals.ts';
import { limit, type ScalingHistory, stabilize, withChange } from './scaling-limits.ts';

export type ScalingState = {
  autoscaler: HorizontalPodAutoscaler;
  currentReplicas: number;
  /** The scale's label selector in text form; '' if the target has none. */
  selector: string;
  /** All autoscalers that select any of this one's pods, including itself, as `{NAME NAMESPACE}`. */
  selectedBy: readonly string[];
  pods: readonly Pod[];
  use: KnownUse;
  history: ScalingHistory;
  nowMs: number;
};

export type ScalingEvent = { type: EventType; reason: string; message: string };

export type ScalingDecision = {
  /** The new number of replicas of the target; absent if it does not change. */
  rescale?: { replicas: number; reason: string };
  /** The status before the target is rescaled. `rescaled` and `rescaleFailed` return the status afterwards. */
  status: AutoscalerStatus;
  events: ScalingEvent[];
  history: ScalingHistory;
};

/** Decides the number of replicas, the status and the events of an autoscaler. */
export function decideScaling(state: ScalingState): ScalingDecision {
  return new Decision(state).decide();
}

/** Returns the autoscaler's status, history and event after its target has been rescaled. */
export function rescaled(
  { autoscaler, currentReplicas, nowMs }: ScalingState,
  decision: ScalingDecision & Required<Pick<ScalingDecision, 'rescale'>>,
): { status: AutoscalerStatus; event: ScalingEvent; history: ScalingHistory } {
  const { replicas, reason } = decision.rescale;
  const message = `the HPA controller was able to update the target scale to ${replicas}`;
  const able: ConditionChange = { type: 'AbleToScale', status: 'True', reason: 'SucceededRescale', message };
  const conditions = withCondition(decision.status.conditions ?? [], able, nowMs);
  const change = { from: currentReplicas, to: replicas, nowMs };
  return {
    status: { ...decision.status, conditions, desiredReplicas: replicas, lastScaleTime: formatTime(nowMs) },
    event: { type: 'Normal', reason: 'SuccessfulRescale', message: `New size: ${replicas}; reason: ${reason}` },
    history: withChange(decision.history, autoscaler.spec.behavior, change),
  };
}

/** Returns the autoscaler's status and event after rescaling its target has failed. */
export function rescaleFailed(
  { autoscaler, nowMs }: ScalingState,
  decision: ScalingDecision & Required<Pick<ScalingDecision, 'rescale'>>,
  error: string,
): { status: AutoscalerStatus; event: ScalingEvent } {
  const { replicas, reason } = decision.rescale;
  const message = `the HPA controller was unable to update the target scale: ${error}`;
  const unable: ConditionChange = { type: 'AbleToScale', status: 'False', reason: 'FailedUpdateScale', message };
  const conditions = withCondition(decision.status.conditions ?? [], unable, nowMs);
  const text = `New size: ${replicas}; reason: ${reason}; error: ${error}`;
  return {
    status: { ...decision.status, conditions, desiredReplicas: autoscaler.status?.desiredReplicas ?? 0 },
    event: { type: 'Warning', reason: 'FailedRescale', message: text },
  };
}

/** Returns the autoscaler's status if the scale of its target could not be read. */
export function scaleUnknown(autoscaler: HorizontalPodAutoscaler, error: string, nowMs: number): AutoscalerStatus {
  const message = `the HPA controller was unable to get the target's current scale: ${error}`;
  const unable: ConditionChange = { type: 'AbleToScale', status: 'False', reason: 'FailedGetScale', message };
  return { ...autoscaler.status, conditions: withCondition(autoscaler.status?.conditions ?? [], unable, nowMs) };
}

class Decision {
  readonly #state: ScalingState;
  readonly #events: ScalingEvent[] = [];
  #conditions: readonly AutoscalerCondition[];
  #history: ScalingHistory;

  constructor(state: ScalingState) {
    this.#state = state;
    this.#conditions = state.autoscaler.status?.conditions ?? [];
    const { recommendations } = state.history;
    const initial = { replicas: state.currentReplicas, atMs: state.nowMs };
    this.#history = recommendations.length > 0 ? state.history : { ...state.history, recommendations: [initial] };
  }

  decide(): ScalingDecision {
    const { autoscaler, currentReplicas } = this.#state;
    const { minReplicas = 1, maxReplicas } = autoscaler.spec;
    const message = "the HPA controller was able to get the target's current scale";
    this.#set({ type: 'AbleToScale', status: 'True', reason: 'SucceededGetScale', message });
    if (currentReplicas === 0) return this.#disabled();
    if (currentReplicas > maxReplicas)
      return this.#rescale(maxReplicas, 'Current number of replicas above Spec.MaxReplicas', []);
    if (currentReplicas < minReplicas)
      return this.#rescale(minReplicas, 'Current number of replicas below Spec.MinReplicas', []);
    return this.#byMetrics(minReplicas);
  }

  #disabled(): ScalingDecision {
    const message = 'scaling is disabled since the replica count of the target is zero';
    this.#set({ type: 'ScalingActive', status: 'False', reason: 'ScalingDisabled', message });
    return this.#keep([]);
  }

  #byMetrics(min: number): ScalingDecision {
    const { autoscaler, currentReplicas: current, nowMs } = this.#state;
    const { behavior, maxReplicas: max, metrics = [] } = autoscaler.spec;
    if (!this.#hasSelector()) return this.#failed(this.#events.at(-1)!.message, []);
    const results = metrics.map((spec) => proposeForMetric(spec, this.#state));
    const statuses = results.map((one) => ('status' in one ? one.status : { type: '' }));
    const best = this.#best(results);
    if ('error' in best) return this.#failed(best.error, statuses);
    const input = { behavior, history: this.#history, current, desired: best.replicas, min, max, nowMs };
    const { recommendations, ...stable } = stabilize(input);
    this.#history = { ...this.#history, recommendations };
    const isStable = stable.replicas === best.replicas;
    const ready = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' };
    const { reason, message } = isStable ? ready : stable;
    this.#set({ type: 'AbleToScale', status: 'True', reason, message });
    const limited = limit({ ...input, desired: stable.replicas });
    const isLimited = limited.replicas !== stable.replicas;
    const limits = { reason: limited.reason, message: limited.message };
    this.#set({ type: 'ScalingLimited', status: isLimited ? 'True' : 'False', ...limits });
    if (limited.replicas === current) return this.#keep(statuses);
    return this.#rescale(limited.replicas, reasonFor(best, current), statuses);
  }

  /** Returns the proposal with the most replicas. If any metric failed, returns an error instead of a proposal to scale down. */
  #best(results: readonly (MetricProposal | MetricFailure)[]): MetricProposal | { error: string } {
    const failures = results.filter((one) => 'error' in one);
    for (const { reason, message } of failures) this.#events.push({ type: 'Warning', reason, message });
    const [first] = failures;
    const best = results
      .filter((one) => 'status' in one)
      .reduce<MetricProposal | undefined>((a, b) => (a === undefined || b.replicas > a.replicas ? b : a), undefined);
    if (best === undefined || (first !== undefined && best.replicas < this.#state.currentReplicas)) {
      if (first === undefined) return { error: 'no metrics' };
      const message = `the HPA was unable to compute the replica count: ${first.message}`;
      this.#set({ type: 'ScalingActive', status: 'False', reason: first.reason, message });
      const counts = `${failures.length} invalid out of ${results.length}`;
      return { error: `invalid metrics (${counts}), first error is: ${first.error}` };
    }
    const message = `the HPA was able to successfully calculate a replica count from ${best.name}`;
    this.#set({ type: 'ScalingActive', status: 'True', reason: 'ValidMetricFound', message });
    return best;
  }

  #hasSelector(): boolean {
    const { selector, selectedBy } = this.#state;
    const refuse = (event: string, message: string, condition = { reason: event, message }) => {
      this.#events.push({ type: 'Warning', reason: event, message });
      this.#set({ type: 'ScalingActive', status: 'False', ...condition });
      return false;
    };
    if (selector === '') {
      const message = "the HPA target's scale is missing a selector";
      return refuse('SelectorRequired', 'selector is required', { reason: 'InvalidSelector', message });
    }
    if (selectedBy.length <= 1) return true;
    const text = `pods by selector ${selector} are controlled by multiple HPAs: [${selectedBy.join(' ')}]`;
    return refuse('AmbiguousSelector', text);
  }

  #set(change: ConditionChange): void {
    this.#conditions = withCondition(this.#conditions, change, this.#state.nowMs);
  }

  #failed(error: string, statuses: readonly MetricStatus[]): ScalingDecision {
    this.#events.push({ type: 'Warning', reason: 'FailedComputeMetricsReplicas', message: error });
    const { desiredReplicas = 0 } = this.#state.autoscaler.status ?? {};
    return this.#decision(desiredReplicas, statuses);
  }

  #keep(statuses: readonly MetricStatus[]): ScalingDecision {
    return this.#decision(this.#state.currentReplicas, statuses);
  }

  #rescale(replicas: number, reason: string, statuses: readonly MetricStatus[]): ScalingDecision {
    return { ...this.#decision(replicas, statuses), rescale: { replicas, reason } };
  }

  #decision(desiredReplicas: number, statuses: readonly MetricStatus[]): ScalingDecision {
    const { autoscaler, currentReplicas } = this.#state;
    const lastScaleTime = autoscaler.status?.lastScaleTime;
    const status: AutoscalerStatus = {
      ...(lastScaleTime === undefined ? {} : { lastScaleTime }),
      currentReplicas,
      desiredReplicas,
      currentMetrics: statuses.length === 0 ? null : [...statuses],
      conditions: [...this.#conditions],
    };
    return { status, events: this.#events, history: this.#history };
  }
}

const reasonFor = ({ replicas, name }: MetricProposal, current: number): string =>
  replicas > current ? `${name} above target` : replicas < current ? 'All metrics below target' : '';
