/** Prometheus metrics. A registry is always passed in; the client's global default registry is never used. */
import type { Registry } from '@prometheus-io/client';

export { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';

/** The registry's metric of that name, created by `make` if it does not exist. All users of one registry thus share its metrics. */
export function metricIn<M>(registry: Registry, name: string, make: () => M): M {
  return (registry.getSingleMetric(name) as M | undefined) ?? make();
}

/** Probe metrics are labelled with pod names, so they are served on a separate endpoint (/metrics/probes), as upstream does. */
export function isProbeMetric(name: string): boolean {
  return name.startsWith('prober_');
}

/** The metrics whose names pass `wanted`, in Prometheus' text format. */
export async function metricsText(registry: Registry, wanted: (name: string) => boolean): Promise<string> {
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  const texts = await Promise.all(names.filter(wanted).map((name) => registry.getSingleMetricAsString(name)));
  return texts.map((text) => `${text.trimEnd()}\n`).join('');
}
