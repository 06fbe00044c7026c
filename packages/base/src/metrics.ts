/** Prometheus metrics. A registry is always passed in; the client library's global default registry is never used. */
import type { Registry } from '@prometheus-io/client';

export { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';

/**
 * Returns the metric of that name in the registry; if there is none, creates it with `make`. All users of a registry thus share its
 * metrics.
 */
export function metricIn<M>(registry: Registry, name: string, make: () => M): M {
  return (registry.getSingleMetric(name) as M | undefined) ?? make();
}

/** Probe metrics are labeled with pod names, so they are served on a separate endpoint (/metrics/probes), as in upstream. */
export function isProbeMetric(name: string): boolean {
  return name.startsWith('prober_');
}

/** Returns the metrics whose names satisfy `wanted`, in the Prometheus text format. */
export async function metricsText(registry: Registry, wanted: (name: string) => boolean): Promise<string> {
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  const texts = await Promise.all(names.filter(wanted).map((name) => registry.getSingleMetricAsString(name)));
  return texts.map((text) => `${text.trimEnd()}\n`).join('');
}
