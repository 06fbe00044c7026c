import type { Kubelet } from '@podwright/kubelet';
import { ANY_METHOD, type ApiCall, type ApiRoute, sendText } from './api-route.ts';
import type { HttpListener } from './http/http-listener.ts';

/** A health check of one part of the kubelet. `error` returns why that part is unhealthy, or `undefined` if it is healthy. */
export type HealthCheck = { name: string; error: () => string | undefined };

/** Returns the kubelet's health checks, under upstream's names. */
export function kubeletChecks(kubelet: Pick<Kubelet, 'unhealthyReason'>): HealthCheck[] {
  return [
    { name: 'ping', error: () => undefined },
    { name: 'log', error: () => undefined },
    { name: 'syncloop', error: () => kubelet.unhealthyReason },
  ];
}

/** Returns a listener that serves only `/healthz` and the paths of its checks. */
export function healthListener(checks: HealthCheck[]): HttpListener {
  const routes = new Map(healthRoutes(checks).map((route) => [route.path, route]));
  return {
    upgrades: () => false,
    upgrade: (_request, socket) => socket.destroy(),
    handle: (request, response) => {
      request.resume();
      const [path = '', query] = (request.url ?? '').split('?');
      const route = routes.get(path);
      if (route === undefined) return sendText(response, 404, '404 page not found\n');
      const signal = new AbortController().signal; // the handlers do nothing asynchronous
      void route.handler({ request, response, path, query: new URLSearchParams(query), params: {}, signal });
    },
  };
}

/**
 * `/healthz` runs all health checks; each path under it runs a single check (k8s.io/apiserver server/healthz). Only the response of a
 * single check says why it failed.
 */
export function healthRoutes(checks: HealthCheck[]): ApiRoute[] {
  const route = (path: string, handler: ApiRoute['handler']): ApiRoute => ({
    methods: ANY_METHOD,
    path,
    access: 'open',
    listed: true,
    handler,
  });
  return [
    route('/healthz', (call) => sendHealth(checks, call)),
    ...checks.map(({ name, error }) =>
      route(`/healthz/${name}`, ({ response }) => {
        const why = error();
        if (why === undefined) sendText(response, 200, 'ok');
        else sendText(response, 500, `internal server error: ${why}\n`);
      }),
    ),
  ];
}

function sendHealth(checks: HealthCheck[], { response, query }: ApiCall): void {
  const { text, healthy } = healthReport(checks, query.getAll('exclude'));
  if (!healthy) return sendText(response, 500, `${text}healthz check failed\n`);
  sendText(response, 200, query.has('verbose') ? `${text}healthz check passed\n` : 'ok');
}

/** Runs the health checks and reports each on its own line. Pure except for the checks. */
export function healthReport(checks: HealthCheck[], exclude: string[]): { text: string; healthy: boolean } {
  const excluded = new Set(exclude);
  let healthy = true;
  const lines = checks.map(({ name, error }) => {
    if (excluded.delete(name)) return `[+]${name} excluded: ok\n`;
    if (error() === undefined) return `[+]${name} ok\n`;
    healthy = false;
    return `[-]${name} failed: reason withheld\n`;
  });
  const unknown = [...excluded].sort().map((name) => `"${name}"`);
  if (unknown.length > 0)
    lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown.join(',')}\n`);
  return { text: lines.join(''), healthy };
}
