import type { KubeObject } from '@podwright/kube-api';
import { AGE, type Column, integer, type KindTables, kindTable, NAME, NONE, shortList, text, UNSET } from './column.ts';
import { type JsonQuantity, quantityText } from './quantity-text.ts';

const UNKNOWN = '<unknown>';

/** A metric's target or current value (autoscaling/v2). */
type MetricValue = { value?: JsonQuantity; averageValue?: JsonQuantity; averageUtilization?: number };
type MetricSource = { name?: string; target: MetricValue };
type MetricState = { current?: MetricValue };
type SourceKey = 'external' | 'pods' | 'object' | 'resource' | 'containerResource';

type MetricSpec = { type: string } & { [key in SourceKey]?: MetricSource };
type MetricStatus = { type?: string } & { [key in SourceKey]?: MetricState };

type Autoscaler = KubeObject & {
  spec: {
    scaleTargetRef: { kind: string; name: string };
    metrics?: MetricSpec[];
    minReplicas?: number;
    maxReplicas: number;
  };
  status?: { currentMetrics?: MetricStatus[]; currentReplicas?: number };
};

const AUTOSCALER: Column<Autoscaler>[] = [
  NAME,
  text(
    'Reference',
    'Object that is scaled',
    ({ spec: { scaleTargetRef } }) => `${scaleTargetRef.kind}/${scaleTargetRef.name}`,
  ),
  text('Targets', 'Current and desired values of the metrics', ({ spec, status }) => {
    const states = status?.currentMetrics ?? [];
    const metrics = (spec.metrics ?? []).map((metric, index) => metricText(metric, states[index] ?? {}));
    return shortList(metrics, { limit: 2, empty: NONE, separator: ', ' });
  }),
  text('MinPods', 'Fewest pods', ({ spec }) => String(spec.minReplicas ?? UNSET)),
  text('MaxPods', 'Most pods', ({ spec }) => spec.maxReplicas ?? 0),
  text('Replicas', 'Pods that are', ({ status }) => status?.currentReplicas ?? 0),
  AGE,
];

function metricText(metric: MetricSpec, states: MetricStatus): string {
  switch (metric.type) {
    case 'External':
      return valueText(metric.external!, states.external);
    case 'Object':
      return valueText(metric.object!, states.object);
    case 'Pods':
      return `${averageText(states.pods)}/${valueOr(metric.pods!.target.averageValue)}`;
    case 'Resource':
      return resourceText(metric.resource!, states.resource);
    case 'ContainerResource':
      return resourceText(metric.containerResource!, states.containerResource);
    default:
      return '<unknown type>';
  }
}

function valueText({ target }: MetricSource, state: MetricState | undefined): string {
  const { value, averageValue } = state?.current ?? {};
  if (target.averageValue === undefined) {
    return `${state === undefined ? UNKNOWN : valueOr(value)}/${valueOr(target.value)}`;
  }
  return `${averageValue === undefined ? UNKNOWN : quantityText(averageValue)}/${quantityText(target.averageValue)} (avg)`;
}

function resourceText({ name, target }: MetricSource, state: MetricState | undefined): string {
  if (target.averageValue !== undefined) return `${name}: ${averageText(state)}/${quantityText(target.averageValue)}`;
  const percent = (utilization: number | undefined, otherwise: string) =>
    utilization === undefined ? otherwise : `${utilization}%`;
  const current = percent(state?.current?.averageUtilization, UNKNOWN);
  return `${name}: ${current}/${percent(target.averageUtilization, '<auto>')}`;
}

const averageText = (state: MetricState | undefined): string =>
  state === undefined ? UNKNOWN : valueOr(state.current?.averageValue);

/** Formats a quantity as Go does, which prints a missing one as `<nil>`. */
const valueOr = (quantity: JsonQuantity | undefined): string =>
  quantity === undefined ? '<nil>' : quantityText(quantity);

type DisruptionBudget = KubeObject & {
  spec?: { minAvailable?: number | string; maxUnavailable?: number | string };
  status?: { disruptionsAllowed?: number };
};

const DISRUPTION_BUDGET: Column<DisruptionBudget>[] = [
  NAME,
  text('Min Available', 'Fewest pods that stay available', ({ spec }) => String(spec?.minAvailable ?? 'N/A')),
  text('Max Unavailable', 'Most pods that may be unavailable', ({ spec }) => String(spec?.maxUnavailable ?? 'N/A')),
  integer('Allowed Disruptions', 'Pods that may be evicted now', ({ status }) => status?.disruptionsAllowed ?? 0),
  AGE,
];

export const AUTOSCALING: KindTables = {
  'HorizontalPodAutoscaler.autoscaling': kindTable(AUTOSCALER),
  'PodDisruptionBudget.policy': kindTable(DISRUPTION_BUDGET),
};
