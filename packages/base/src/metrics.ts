/** Prometheus metrics. A registry is always passed in; the client's global default registry is never used. */
export { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
