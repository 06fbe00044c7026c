/** Prometheus metrics. A registry is always passed in; the client library's global default registry is never used. */
import type { Registry } from '@prometheus-io/client';

export { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';

/**
 * Returns the metric with this name from the registry, creating it with `make` if it does not exist, so that all users of a registry share
 * its metrics.
 */
export function metricIn<M>(registry: Registry, name: string, make: () => M): M {
  return (registry.getSingleMetric(name) as M | undefined) ?? make();
}

/**
 * Whether this is a probe metric. These are labeled with pod names and therefore served on a separate endpoint (/metrics/probes), as
 * upstream does.
 */
export function isProbeMetric(name: string): boolean {
  return name.startsWith('prober_');
}

/** Returns the metrics whose names satisfy `wanted`, in the Prometheus text format. */
export async function metricsText(registry: Registry, wanted: (name: string) => boolean): Promise<string> {
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  const texts = await Promise.all(names.filter(wanted).map((name) => registry.getSingleMetricAsString(name)));
  return texts.map((text) => `${text.trimEnd()}\n`).join('');
}
