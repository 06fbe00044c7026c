import { Counter, Gauge, Histogram, metricIn, type Registry } from '@podwright/base';

/** Counts requests under upstream's names (pkg/kubelet/server/metrics). */
export type RequestCounter = {
  /** Counts a request that has started. The caller must call the returned function when the request has ended. */
  started(method: string, path: string): () => void;
  /** Counts a stream that was opened over a WebSocket. */
  webSocket(subresource: string): void;
};

const METHODS = new Set(['OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE', 'CONNECT']);
const LONG_RUNNING = new Set(['exec', 'attach', 'portforward', 'debug']);
const LABELS = ['method', 'path', 'server_type', 'long_running'] as const;
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Returns a counter that labels requests to `paths` with the first path segment and all other requests with `other`. Servers that use the
 * same registry share the metrics.
 */
export function requestMetrics(
  registry: Registry,
  { serverType, paths }: { serverType: 'readwrite' | 'readonly'; paths: string[] },
): RequestCounter {
  const { requests, inFlight, seconds, webSockets } = metricsOf(registry);
  const known = new Set(paths.map(pathLabel));
  return {
    started(method, requestPath) {
      const label = pathLabel(requestPath);
      const path = known.has(label) ? label : 'other';
      const labels = {
        method: METHODS.has(method) ? method : 'other',
        path,
        server_type: serverType,
        long_running: String(LONG_RUNNING.has(path)),
      };
      const startedAtMs = performance.now();
      requests.inc(labels);
      inFlight.inc(labels);
      let over = false;
      return () => {
        if (over) return;
        over = true;
        inFlight.dec(labels);
        seconds.observe(labels, (performance.now() - startedAtMs) / 1000);
      };
    },
    webSocket: (subresource) => webSockets.inc({ subresource }),
  };
}

function metricsOf(registry: Registry) {
  const named = (name: string, help: string) => ({ name: `kubelet_${name}`, help, registers: [registry] });
  const requests = named('http_requests_total', 'Number of the http requests received since the server started');
  const inFlight = named('http_inflight_requests', 'Number of the inflight http requests');
  const seconds = named('http_requests_duration_seconds', 'Duration in seconds to serve http requests');
  const webSockets = named(
    'websocket_streaming_requests_total',
    'Total number of WebSocket streaming requests (exec/attach/portforward) received by the kubelet.',
  );
  const labelNames = LABELS;
  const buckets = DEFAULT_BUCKETS;
  return {
    requests: metricIn(registry, requests.name, () => new Counter({ ...requests, labelNames })),
    inFlight: metricIn(registry, inFlight.name, () => new Gauge({ ...inFlight, labelNames })),
    seconds: metricIn(registry, seconds.name, () => new Histogram({ ...seconds, labelNames, buckets })),
    webSockets: metricIn(
      registry,
      webSockets.name,
      () => new Counter({ ...webSockets, labelNames: ['subresource'] as const }),
    ),
  };
}

function pathLabel(path: string): string {
  const [first = '', second] = path.replace(/^\//, '').split('/');
  return first === 'metrics' && second ? `${first}/${second}` : first;
}
