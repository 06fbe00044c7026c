/** Computes the replicas proposed by each metric of an autoscaler (upstream's computeReplicasForMetrics). Pure. */
import { errorMessage } from '@podwright/base';
import { formatQuantity, type Pod, parseQuantity, quantityMilliValue } from '@podwright/kube-api';
import type {
  HorizontalPodAutoscaler,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValue,
  PodMetrics,
} from '../objects/horizontal-pod-autoscaler.ts';
import { selectorText } from '../pods/selector-text.ts';
import { usagesOf } from './pod-usage.ts';
import { proposeReplicas, type Tolerances } from './replica-proposal.ts';

const DEFAULT_TOLERANCE = 0.1;

/** The resource usage of the pods of an autoscaler's target, or why it is unknown. */
export type KnownUse = { items: readonly PodMetrics[] } | { error: string };

export type MetricsInput = {
  autoscaler: HorizontalPodAutoscaler;
  pods: readonly Pod[];
  use: KnownUse;
  currentReplicas: number;
  nowMs: number;
};

/** The replicas proposed by one metric. `name` describes the metric in messages. */
export type MetricProposal = { replicas: number; name: string; status: MetricStatus };
/** Why a metric has no proposal. `reason` and `message` are used in the condition and the event, `error` in the summary of all metrics. */
export type MetricFailure = { reason: string; message: string; error: string };

/** Returns the replicas proposed by one metric, or why it proposes none. */
export function proposeForMetric(spec: MetricSpec, input: MetricsInput): MetricProposal | MetricFailure {
  const { resource, containerResource, pods, object, external } = spec;
  if (spec.type === 'Resource' && resource !== undefined) return ofResource(resource, input);
  if (spec.type === 'ContainerResource' && containerResource !== undefined)
    return ofContainer(containerResource, input);
  if (spec.type === 'Pods' && pods !== undefined) {
    const message = `unable to get metric ${pods.metric.name}: unable to fetch metrics from custom metrics API: ${NO_CUSTOM}`;
    return failure('FailedGetPodsMetric', message, 'failed to get pods metric value');
  }
  if (spec.type === 'Object' && object !== undefined) {
    const { kind, name } = object.describedObject;
    const { namespace } = input.autoscaler.metadata;
    const message = `unable to get metric ${object.metric.name}: unable to fetch metrics from custom metrics API: ${NO_CUSTOM} on ${kind} ${namespace}/${name}`;
    return failure('FailedGetObjectMetric', message, 'failed to get object metric value');
  }
  if (spec.type === 'External' && external !== undefined) return ofExternal(external.metric, input);
  const message = `unknown metric source type "${spec.type}"`;
  return { reason: 'InvalidMetricSourceType', message, error: message };
}

/** Custom metrics, as served by adapters such as the one for Prometheus, are not supported. */
const NO_CUSTOM = 'no custom metrics API (custom.metrics.k8s.io) registered';

const failure = (reason: string, message: string, prefix: string): MetricFailure => ({
  reason,
  message,
  error: `${prefix}: ${message}`,
});

function ofExternal(
  { name, selector }: { name: string; selector?: object },
  { autoscaler }: MetricsInput,
): MetricFailure {
  const { namespace } = autoscaler.metadata;
  const cause = `unable to fetch metrics from external metrics API: the server could not find the requested resource (get ${name}.external.metrics.k8s.io)`;
  const message = `unable to get external metric ${namespace}/${name}/${selectorText(selector)}: ${cause}`;
  return failure('FailedGetExternalMetric', message, `failed to get ${name} external metric value`);
}

function ofResource(
  { name, target }: NonNullable<MetricSpec['resource']>,
  input: MetricsInput,
): MetricProposal | MetricFailure {
  try {
    const { replicas, current, text } = ofUse({ name, target }, input);
    return { replicas, name: text, status: { type: 'Resource', resource: { name, current } } };
  } catch (error) {
    return failure('FailedGetResourceMetric', errorMessage(error), `failed to get ${name} resource metric value`);
  }
}

function ofContainer(
  { name, container, target }: NonNullable<MetricSpec['containerResource']>,
  input: MetricsInput,
): MetricProposal | MetricFailure {
  try {
    const { replicas, current, text } = ofUse({ name, target, container }, input);
    const status = { type: 'ContainerResource', containerResource: { name, container, current } };
    return { replicas, name: text, status };
  } catch (error) {
    const prefix = `failed to get ${container} container metric value`;
    return failure('FailedGetContainerResourceMetric', errorMessage(error), prefix);
  }
}

type UseTarget = { name: string; target: MetricTarget; container?: string };

function ofUse({ name, target, container }: UseTarget, input: MetricsInput) {
  const { autoscaler, pods, use, currentReplicas, nowMs } = input;
  const { averageValue, averageUtilization } = target;
  const kind = averageValue === undefined ? 'utilization' : 'usage';
  if (averageValue === undefined && averageUtilization === undefined)
    throw new Error(
      'invalid resource metric source: neither an average utilization target nor an average value (usage) target was set',
    );
  try {
    const { replicas, usage, utilization } = proposeReplicas({
      ...{ resource: name, container, pods, currentReplicas, nowMs },
      target:
        averageValue === undefined
          ? { utilization: averageUtilization! }
          : { average: Number(quantityMilliValue(averageValue)) },
      usages: usagesOf(itemsOf(use, name), name, container),
      tolerances: tolerancesOf(autoscaler),
    });
    const current: MetricValue = { averageValue: amountText(name, usage) };
    if (utilization !== undefined) current.averageUtilization = utilization;
    return { replicas, current, text: metricText(name, averageValue !== undefined, container !== undefined) };
  } catch (error) {
    throw new Error(`failed to get ${name} ${kind}: ${errorMessage(error)}`);
  }
}

function metricText(name: string, isValue: boolean, isContainer: boolean): string {
  if (isValue) return `${name} resource`;
  return `${name} ${isContainer ? 'container ' : ''}resource utilization (percentage of request)`;
}

function itemsOf(use: KnownUse, name: string): readonly PodMetrics[] {
  const prefix = `unable to get metrics for resource ${name}`;
  if ('error' in use) throw new Error(`${prefix}: unable to fetch metrics from resource metrics API: ${use.error}`);
  if (use.items.length === 0) throw new Error(`${prefix}: no metrics returned from resource metrics API`);
  return use.items;
}

/** Formats an amount in milli-units as a quantity. Memory gets a binary suffix such as `Mi`. */
function amountText(resource: string, milli: number): string {
  const nanos = BigInt(milli) * 1_000_000n;
  return formatQuantity(nanos, resource === 'memory' && nanos >= 1024_000_000_000n ? 'Ki' : 'm');
}

function tolerancesOf({ spec: { behavior } }: HorizontalPodAutoscaler): Tolerances {
  const of = (tolerance: string | undefined) =>
    tolerance === undefined ? DEFAULT_TOLERANCE : Number(parseQuantity(tolerance).nanos) / 1e9;
  return { scaleDown: of(behavior?.scaleDown?.tolerance), scaleUp: of(behavior?.scaleUp?.tolerance) };
}
