import { PodwrightError } from '@podwright/base';
import type { ApiObject } from '../api-port.ts';
import { quotedTarget, type Target } from '../target.ts';

export type AutoscalerOptions = {
  name?: string;
  min?: number;
  max: number;
  /** The target: a percentage of the requests, such as `80%`, or an amount per pod, such as `500m`. */
  cpu?: string;
  memory?: string;
};

/**
 * Returns the HorizontalPodAutoscaler that `kubectl autoscale` would create. Throws `invalid_argument` if the scaled object has no
 * replicas.
 */
export function autoscalerOf(target: Target, options: AutoscalerOptions): ApiObject {
  const { kind, object } = target;
  if (!kind.subresources.includes('scale'))
    throw new PodwrightError(
      'invalid_argument',
      `autoscale: ${quotedTarget(target)} cannot be scaled: its kind has no replicas`,
    );
  const { name = object.metadata.name, min, max } = options;
  if (min !== undefined && min > max)
    throw new PodwrightError(
      'invalid_argument',
      `autoscale: --max=MAXPODS must be larger or equal to --min=MINPODS, max: ${max}, min: ${min}`,
    );
  const metrics = (['cpu', 'memory'] as const).flatMap((resource) => metricOf(resource, options[resource]));
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name, namespace: object.metadata.namespace },
    spec: {
      maxReplicas: max,
      ...(min !== undefined && { minReplicas: min }),
      ...(metrics.length > 0 && { metrics }),
      scaleTargetRef: { apiVersion: object.apiVersion, kind: object.kind, name: object.metadata.name },
    },
  };
}

function metricOf(name: 'cpu' | 'memory', target: string | undefined): object[] {
  if (target === undefined) return [];
  const [, percent] = /^(\d+)%$/.exec(target) ?? [];
  const wanted =
    percent === undefined
      ? { type: 'AverageValue', averageValue: target }
      : { type: 'Utilization', averageUtilization: Number(percent) };
  return [{ type: 'Resource', resource: { name, target: wanted } }];
}
