import { Counter, Histogram, type Registry } from '@podwright/base';

/** Records CRI calls under the kubelet's metric names. */
export type OperationMetrics = { record(operation: string, seconds: number, failed: boolean): void };

/** Histogram buckets from 5 ms to about 12 min, as in the kubelet. */
const BUCKETS_SECONDS = Array.from({ length: 14 }, (_, index) => 0.005 * 2.5 ** index);

/** Returns the operation metrics of a registry. Clients that share a registry share the metrics. */
export function operationMetrics(registry: Registry): OperationMetrics {
  const common = { labelNames: ['operation_type'] as const, registers: [registry] };
  const prefix = 'kubelet_runtime_operations';
  const existing = <T>(name: string) => registry.getSingleMetric(name) as T | undefined;
  const total =
    existing<Counter<'operation_type'>>(`${prefix}_total`) ??
    new Counter({ name: `${prefix}_total`, help: 'Calls to the container runtime, by operation', ...common });
  const errors =
    existing<Counter<'operation_type'>>(`${prefix}_errors_total`) ??
    new Counter({ name: `${prefix}_errors_total`, help: 'Failed calls to the container runtime', ...common });
  const durations =
    existing<Histogram<'operation_type'>>(`${prefix}_duration_seconds`) ??
    new Histogram({
      name: `${prefix}_duration_seconds`,
      help: 'How long calls to the container runtime took, in seconds',
      buckets: BUCKETS_SECONDS,
      ...common,
    });
  return {
    record(operation, seconds, failed) {
      total.inc({ operation_type: operation });
      durations.observe({ operation_type: operation }, seconds);
      if (failed) errors.inc({ operation_type: operation });
    },
  };
}

/** Returns the kubelet's name for a method: `runPodSandbox` becomes `run_podsandbox`. */
export function operationName(method: string): string {
  if (method === 'updateContainerResources') return 'update_container';
  return method.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace('pod_sandbox', 'podsandbox');
}
