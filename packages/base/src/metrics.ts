/** Prometheus metrics. A registry is always passed in; the client's global default registry is never used. */
import type { Registry } from '@prometheus-io/client';

export { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';

/** The registry's metric of that name; made if it is not there: those who share a registry share its metrics. */
export function metricIn<M>(registry: Registry, name: string, make: () => M): M {
  return (registry.getSingleMetric(name) as M | undefined) ?? make();
}
