/** Converts HorizontalPodAutoscalers from and to autoscaling/v1, which carries fields that exist only in autoscaling/v2 in annotations. */
import type { ApiObject } from '../api-object.ts';
import type { Conversion } from '../strategy.ts';
import { isObject, type JsonObject, numberAt, objectAt, objectsAt, textAt } from '../values.ts';
import {
  BEHAVIOR,
  CONDITIONS,
  CURRENT_METRICS,
  METRICS,
  parseAnnotation,
  withoutHpaAnnotations,
} from './hpa-annotations.ts';
import { behaviorFrom, behaviorText, pick } from './hpa-behavior-annotation.ts';
import { metricStatusesFromV1, metricStatusToV1, metricsFromV1, metricToV1 } from './hpa-metric-conversion.ts';

const COMMON_SPEC = ['scaleTargetRef', 'minReplicas', 'maxReplicas'];
const COMMON_STATUS = ['observedGeneration', 'lastScaleTime', 'currentReplicas', 'desiredReplicas'];
const CPU_UTILIZATION = 80;

const cpuMetric = (averageUtilization: number): JsonObject => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});

const isCpu = (metric: JsonObject): boolean =>
  textAt(metric, 'type') === 'Resource' && textAt(metric, 'resource', 'name') === 'cpu';

const cpuUtilization = (metric: JsonObject): number | undefined =>
  isCpu(metric) ? numberAt(metric, 'resource', 'target', 'averageUtilization') : undefined;

function toStored(object: ApiObject): ApiObject {
  const cpu = numberAt(object, 'spec', 'targetCPUUtilizationPercentage');
  const own = cpu === undefined ? [] : [cpuMetric(cpu)];
  const others = metricsFromV1(parseAnnotation(object, METRICS)) ?? [];
  const metrics = [...others, ...own];
  const behavior = behaviorFrom(parseAnnotation(object, BEHAVIOR));
  return withoutHpaAnnotations({
    ...object,
    apiVersion: 'autoscaling/v2',
    spec: {
      ...pick(object.spec, COMMON_SPEC),
      metrics: metrics.length === 0 ? [cpuMetric(CPU_UTILIZATION)] : metrics,
      ...(behavior === undefined ? {} : { behavior }),
    },
    status: statusToStored(object),
  });
}

function statusToStored(object: ApiObject): JsonObject {
  const cpu = numberAt(object, 'status', 'currentCPUUtilizationPercentage');
  const own = { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: cpu } } };
  const annotated = metricStatusesFromV1(parseAnnotation(object, CURRENT_METRICS));
  const conditions = parseAnnotation(object, CONDITIONS);
  const hasConditions = Array.isArray(conditions) && conditions.length > 0 && conditions.every(isCondition);
  return {
    ...pick(object.status, COMMON_STATUS),
    currentMetrics: annotated ?? (cpu === undefined ? null : [own]),
    ...(hasConditions ? { conditions } : {}),
  };
}

const isCondition = (condition: unknown): boolean =>
  isObject(condition) && Object.values(condition).every((value) => typeof value === 'string' || value === null);

function fromStored(object: ApiObject): ApiObject {
  const stripped = withoutHpaAnnotations(object);
  const metrics = objectsAt(object, 'spec', 'metrics');
  const cpu = metrics.map(cpuUtilization).find((one) => one !== undefined);
  const annotations = { ...stripped.metadata.annotations, ...annotationsOf(object) };
  const metadata = { ...stripped.metadata, annotations };
  const currentCpu = objectsAt(object, 'status', 'currentMetrics')
    .filter(isCpu)
    .map((metric) => numberAt(metric, 'resource', 'current', 'averageUtilization'))
    .findLast((one) => one !== undefined);
  return {
    ...object,
    apiVersion: 'autoscaling/v1',
    metadata: Object.keys(annotations).length === 0 ? stripped.metadata : metadata,
    spec: {
      ...pick(object.spec, COMMON_SPEC),
      ...(cpu === undefined ? {} : { targetCPUUtilizationPercentage: cpu }),
    },
    status: {
      currentReplicas: 0,
      ...pick(object.status, COMMON_STATUS),
      ...(currentCpu === undefined ? {} : { currentCPUUtilizationPercentage: currentCpu }),
    },
  };
}

function annotationsOf(object: ApiObject): Record<string, string> {
  const others = objectsAt(object, 'spec', 'metrics').filter((metric) => cpuUtilization(metric) === undefined);
  const current = objectsAt(object, 'status', 'currentMetrics');
  const conditions = objectsAt(object, 'status', 'conditions');
  const behavior = objectAt(object, 'spec', 'behavior');
  return {
    ...(others.length === 0 ? {} : { [METRICS]: JSON.stringify(others.map(metricToV1)) }),
    ...(current.length === 0 ? {} : { [CURRENT_METRICS]: JSON.stringify(current.map(metricStatusToV1)) }),
    ...(behavior === undefined ? {} : { [BEHAVIOR]: behaviorText(behavior) }),
    ...(conditions.length === 0 ? {} : { [CONDITIONS]: JSON.stringify(conditions) }),
  };
}

export const HPA_V1: Conversion = { toStored, fromStored };
