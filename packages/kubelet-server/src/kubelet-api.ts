import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorMessage, type Logger, PodwrightError, type Registry } from '@podwright/base';
import type { Kubelet } from '@podwright/kubelet';
import { type CountBuffer, needsTranslation, proxyUpgrade, translateUpgrade } from '@podwright/streaming';
import findMyWay from 'find-my-way';
import { ANY_METHOD, type ApiCall, type ApiRoute, refusal, sendRefusal, sendText } from './api-route.ts';
import { commandRoutes } from './command-routes.ts';
import { containerLogRoutes } from './container-log-routes.ts';
import { healthRoutes, kubeletChecks } from './health-routes.ts';
import type { HttpListener, ServeStream } from './http/http-listener.ts';
import { MAX_IGNORED_BODY_BYTES } from './limits.ts';
import { podRoutes } from './pod-routes.ts';
import { profileRoutes } from './profile-routes.ts';
import { refuseSocket } from './refuse-socket.ts';
import { type RequestCounter, requestMetrics } from './request-metrics.ts';
import { decodedPath, parseTarget } from './request-target.ts';
import { statisticsRoutes } from './statistics-routes.ts';
import { findStream, openStream, STREAM_PATHS, type Stream, type StreamKind } from './stream-routes.ts';
import { type SystemLogs, systemLogRoutes } from './system-log-routes.ts';
import { traceRoutes } from './trace-routes.ts';
import { notFoundWords, withSlash } from './upstream-paths.ts';
import { type KubeletFacts, zpageRoutes } from './zpage-routes.ts';

export type KubeletApiParts = {
  kubelet: Kubelet;
  registry: Registry;
  facts: KubeletFacts;
  systemLogs: SystemLogs;
  logger: Logger;
  /** If false, only `open` routes are served (enableDebuggingHandlers). */
  debuggingHandlers: boolean;
  /** Whether to serve profiles of the kubelet process (enableProfilingHandler). */
  profiling: boolean;
  /** How long a stream may be idle; 0 means no limit (streamingConnectionIdleTimeout). */
  streamIdleTimeoutMs: number;
  serveStream: ServeStream | undefined;
  /** Counts the buffered bytes of streams that are proxied to other servers. */
  countBuffer: CountBuffer | undefined;
};

/**
 * First path segments of the debugging handlers. If the handlers are disabled, upstream responds with 405 to these paths and with 404 to
 * all others.
 */
const DISABLED = ['run', 'exec', 'attach', 'portForward', 'containerLogs', 'runningpods', 'logs', 'debug/pprof'];

/**
 * The abort reason for every request's signal. Shared, because every request ends with an abort, and creating a new error costs more than a
 * small response.
 */
const CLIENT_GONE = new PodwrightError('cancelled', 'the client has disconnected');

type Target = { kind: 'route'; route: ApiRoute } | { kind: 'stream'; stream: StreamKind };

/**
 * The kubelet's HTTP API in upstream's formats (pkg/kubelet/server). Authentication is left to the server that wraps it. With `readOnly`,
 * only `open` routes are served.
 */
export class KubeletApi implements HttpListener {
  readonly #parts: KubeletApiParts;
  readonly #router = findMyWay({ ignoreTrailingSlash: true, maxParamLength: 300 });
  readonly #listed: string[];
  readonly #hasDebug: boolean;
  readonly #counter: RequestCounter;
  readonly #upgraded = new Set<Duplex>();

  constructor(parts: KubeletApiParts, { readOnly }: { readOnly: boolean }) {
    this.#parts = parts;
    const hasDebug = parts.debuggingHandlers && !readOnly;
    this.#hasDebug = hasDebug;
    const all = routesOf(parts, () => this.#listed);
    const routes = all.filter(({ access }) => access === 'open' || hasDebug);
    this.#listed = routes.filter(({ listed }) => listed).map(({ path }) => path);
    for (const route of [...routes, ...(hasDebug ? [] : disabledRoutes())])
      this.#add([...route.methods], route.path, { kind: 'route', route });
    if (hasDebug)
      for (const { kind, path } of STREAM_PATHS) this.#add(['GET', 'POST'], path, { kind: 'stream', stream: kind });
    this.#counter = requestMetrics(parts.registry, {
      serverType: readOnly ? 'readonly' : 'readwrite',
      paths: [...routes.map(({ path }) => path), ...STREAM_PATHS.map(({ path }) => path)],
    });
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    ignoreBody(request);
    const disconnected = new AbortController();
    response.on('close', () => disconnected.abort(CLIENT_GONE));
    const { path, query } = parseTarget(request);
    const done = this.#counter.started(request.method ?? '', path ?? '');
    response.on('close', done);
    if (path === undefined) return sendText(response, 400, '400 Bad Request\n');
    const moved = withSlash(path, this.#hasDebug);
    if (moved !== undefined) return sendRedirect(request, response, moved);
    const found = this.#find(request.method, path);
    if (found === undefined) return this.#refuse(response, path);
    const decoded = decodedPath(request)!;
    const call = { request, response, path: decoded, query, params: found.params, signal: disconnected.signal };
    this.#answer(found.target, call).catch((error: unknown) => {
      if (disconnected.signal.aborted) return;
      this.#parts.logger.warn({ path, error: errorMessage(error) }, 'a request of the API failed');
      if (response.headersSent) response.destroy();
      else sendText(response, 500, errorMessage(error));
    });
  }

  upgrades(request: IncomingMessage): boolean {
    const { path } = parseTarget(request);
    const protocol = request.headers.upgrade?.toLowerCase();
    if (path === undefined || (protocol !== 'websocket' && protocol !== 'spdy/3.1')) return false;
    return this.#find(request.method, path)?.target.kind === 'stream';
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#upgraded.add(socket);
    const { path = '', query } = parseTarget(request);
    const done = this.#counter.started(request.method ?? '', path);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#upgraded.delete(socket);
      done();
    });
    const found = this.#find(request.method, path)!;
    const kind = (found.target as Target & { kind: 'stream' }).stream;
    this.#stream({ kind, params: found.params, query }, { request, socket, head }).catch((error: unknown) => {
      this.#parts.logger.info({ kind, error: errorMessage(error) }, 'a stream failed');
      refuseSocket(socket, refusal(500, errorMessage(error)));
    });
  }

  /** Closes all open streams. */
  close(): void {
    for (const socket of this.#upgraded) socket.destroy();
  }

  #add(methods: string[], path: string, target: Target): void {
    this.#router.on(methods as findMyWay.HTTPMethod[], path, () => undefined, target);
  }

  #find(
    method: string | undefined,
    path: string,
  ): { target: Target; params: Record<string, string | undefined> } | undefined {
    const found = this.#router.find((method ?? 'GET') as findMyWay.HTTPMethod, path);
    return found === null ? undefined : { target: found.store as Target, params: found.params };
  }

  #refuse(response: ServerResponse, path: string): void {
    const isThere = ANY_METHOD.some((method) => this.#router.find(method, path) !== null);
    if (isThere) sendText(response, 405, '405: Method Not Allowed');
    else sendText(response, 404, notFoundWords(path, this.#hasDebug));
  }

  async #answer(target: Target, call: ApiCall): Promise<void> {
    if (target.kind === 'route') return target.route.handler(call);
    const { kubelet } = this.#parts;
    const found = findStream(kubelet, { kind: target.stream, ...call, needsPorts: false });
    if (found.kind === 'refused') return sendRefusal(call.response, found.refusal);
    sendText(call.response, 500, 'Upgrade request required\n');
  }

  async #stream(
    target: { kind: StreamKind; params: ApiCall['params']; query: URLSearchParams },
    client: { request: IncomingMessage; socket: Duplex; head: Buffer },
  ): Promise<void> {
    const translated = needsTranslation(client.request, target.kind === 'portForward' ? 'portforward' : target.kind);
    const isWebSocket = client.request.headers.upgrade?.toLowerCase() === 'websocket';
    const found = findStream(this.#parts.kubelet, { ...target, needsPorts: isWebSocket && !translated });
    if (found.kind === 'refused') return refuseSocket(client.socket, found.refusal);
    const opened = await openStream(found.stream);
    if (opened.kind === 'refused') return refuseSocket(client.socket, opened.refusal);
    if (client.socket.destroyed) return;
    this.#boundIdleness(client.request, client.socket);
    if (isWebSocket) this.#counter.webSocket(target.kind.toLowerCase());
    const { url } = opened;
    const { serveStream, countBuffer } = this.#parts;
    if (serveStream?.(client, url)) return;
    if (translated) await translateUpgrade(client, { ...translatedCall(found.stream, url), countBuffer });
    else proxyUpgrade(client.request, client, { url, countBuffer });
  }

  #boundIdleness({ socket: transport }: IncomingMessage, socket: Duplex): void {
    transport.setTimeout(this.#parts.streamIdleTimeoutMs, () => socket.destroy());
  }
}

function routesOf(
  { kubelet, registry, facts, systemLogs, profiling, logger }: KubeletApiParts,
  paths: () => string[],
): ApiRoute[] {
  return [
    ...healthRoutes(kubeletChecks(kubelet)),
    ...podRoutes(kubelet),
    ...statisticsRoutes({ kubelet, registry, logger }),
    ...containerLogRoutes(kubelet),
    ...commandRoutes(kubelet),
    ...systemLogRoutes(systemLogs),
    ...profileRoutes(profiling),
    ...zpageRoutes(facts, paths),
    ...traceRoutes(kubelet),
  ];
}

function disabledRoutes(): ApiRoute[] {
  const handler = ({ response }: ApiCall) => sendText(response, 405, 'Debug endpoints are disabled.\n');
  return DISABLED.flatMap((name) => [`/${name}`, `/${name}/*`]).map((path) => ({
    methods: ANY_METHOD,
    path,
    access: 'open',
    handler,
  }));
}

function translatedCall({ kind, choice }: Stream, url: string): Parameters<typeof translateUpgrade>[1] {
  return kind === 'portForward' ? { kind: 'portforward', url } : { kind, choice, url };
}

/** Redirects like Go's ServeMux: keeps the query string and, for GET, sends an HTML body. */
function sendRedirect({ method, url = '' }: IncomingMessage, response: ServerResponse, path: string): void {
  const query = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  const reads = method === 'GET' || method === 'HEAD';
  response.writeHead(307, { location: path + query, ...(reads && { 'content-type': 'text/html; charset=utf-8' }) });
  response.end(method === 'GET' ? `<a href="${path}${escaped(query)}">Temporary Redirect</a>.\n\n` : '');
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&#34;');

/** Discards the request body, because no route uses one. If the body is too long, the connection is closed. */
function ignoreBody(request: IncomingMessage): void {
  let bytes = 0;
  request.on('error', () => undefined);
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_IGNORED_BODY_BYTES) request.destroy();
  });
}
