import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { background, errorCode, errorMessage, type Logger, PodwrightError, PRIVATE_FILE } from '@podwright/base';
import { listenUnix, type SocketFile } from '@podwright/host';
import { readContainerLog } from '@podwright/kubelet';
import {
  type Call,
  type Handler,
  type HttpListener,
  MAX_CONNECTIONS,
  type Method,
  type Route,
  readBody,
  type ServeStream,
  sendError,
  sendJson,
  sendLine,
  statusObject,
  writeNow,
} from '@podwright/kubelet-server';
import { type CountBuffer, proxyUpgrade } from '@podwright/streaming';
import findMyWay from 'find-my-way';
import type { KubernetesApi } from './kubernetes-api.ts';
import type { NodeBackend } from './node-backend.ts';
import { objectRoutes } from './object-routes.ts';
import { applyOptions, logQuery, stopOptions, streamingCall } from './query.ts';
import { subresourceRoutes } from './subresource-routes.ts';
import { usageRoutes } from './usage-routes.ts';

export type LocalServerOptions = {
  socketPath: string;
  backend: NodeBackend;
  logger: Logger;
  /** The node's own Kubernetes API, if any. It handles requests for objects. */
  kubernetesApi?: Pick<KubernetesApi, 'handle'>;
  /** The kubelet's own API, which handles all paths outside the local API. */
  kubeletApi?: HttpListener;
  serveStream?: ServeStream;
  /** Counts the buffers of streams proxied to other servers. */
  countBuffer?: CountBuffer;
};

/** Serves the HTTP API of a standalone node (see `local-api.ts`) on its Unix socket. */
export class LocalServer {
  readonly #options: LocalServerOptions;
  readonly #router = findMyWay({
    ignoreTrailingSlash: true,
    maxParamLength: 300,
    defaultRoute: (request, response) => this.#passOn(request, response),
  });
  readonly #server: Server;
  readonly #upgraded = new Set<Duplex>();
  #socket: SocketFile | undefined;

  constructor(options: LocalServerOptions) {
    this.#options = options;
    this.#addRoutes(options.backend);
    this.#server = createServer((request, response) => this.#router.lookup(request, response));
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.on('upgrade', (request, socket, head) =>
      background(options.logger, 'a connection could not be upgraded', this.#upgrade(request, socket, head)),
    );
  }

  /** Binds the socket, which only its owner may open. Throws `already_exists` if a running node uses it. */
  async listen(): Promise<void> {
    this.#socket = await listenUnix(this.#server, this.#options.socketPath, PRIVATE_FILE);
  }

  async close(): Promise<void> {
    for (const socket of this.#upgraded) socket.destroy();
    await this.#socket?.remove();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #addRoutes(backend: NodeBackend): void {
    if (this.#options.kubeletApi === undefined)
      this.#on('GET', '/healthz', async ({ response }) => void response.end('ok'));
    this.#on('GET', '/podwright/v1/node', async ({ response }) => sendJson(response, await backend.info()));
    this.#on('GET', '/podwright/v1/traces/:uid', async ({ response, params }) =>
      sendJson(response, await backend.traces(params.uid!)),
    );
    this.#on('GET', '/podwright/v1/transfers', async (call) => sendTransfers(backend, call));
    this.#on('POST', '/podwright/v1/apply', async ({ request, response, query }) =>
      sendJson(response, await backend.apply(await readBody(request), applyOptions(query))),
    );
    this.#on('POST', '/podwright/v1/stop', async ({ response, query }) => {
      sendJson(response, {});
      await once(response, 'close');
      backend.stop(stopOptions(query));
    });
    this.#on('POST', '/podwright/v1/namespaces/:namespace/pods/:name/restart', async ({ response, params, query }) => {
      const pod = { namespace: params.namespace!, name: params.name! };
      sendJson(response, backend.restart(pod, query.get('container') ?? undefined));
    });
    const { kubernetesApi } = this.#options;
    const objects =
      kubernetesApi === undefined
        ? [...objectRoutes(backend), ...subresourceRoutes(backend)]
        : [deleteRoute(backend, kubernetesApi)];
    for (const { method, path, handler } of [...objects, ...usageRoutes(backend)]) this.#on(method, path, handler);
    this.#on('GET', '/api/v1/namespaces/:namespace/pods/:name/log', async (call) => sendLog(backend, call));
  }

  #passOn(request: IncomingMessage, response: ServerResponse): void {
    const { kubernetesApi, kubeletApi } = this.#options;
    if (kubernetesApi !== undefined && OF_KUBERNETES.test(request.url ?? ''))
      return kubernetesApi.handle(request, response);
    if (kubeletApi !== undefined) return kubeletApi.handle(request, response);
    sendError(response, new PodwrightError('not_found', 'unknown path'));
  }

  #on(method: Method, path: string, handler: Handler): void {
    this.#router.on(method, path, (request, response, params) => {
      const disconnected = new AbortController();
      response.on('close', () => disconnected.abort());
      const call = async () =>
        handler({
          request: request as IncomingMessage,
          response: response as ServerResponse,
          query: requestUrl(request as IncomingMessage).searchParams,
          params,
          signal: disconnected.signal,
        });
      call().catch((error: unknown) => {
        if (disconnected.signal.aborted) return;
        this.#options.logger.debug({ method, path, error: errorMessage(error) }, 'local API call failed');
        sendError(response as ServerResponse, error);
      });
    });
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    this.#upgraded.add(socket);
    socket.on('close', () => this.#upgraded.delete(socket));
    try {
      const { kubeletApi, serveStream, countBuffer } = this.#options;
      if (kubeletApi?.upgrades(request)) return kubeletApi.upgrade(request, socket, head);
      const { pathname, searchParams } = requestUrl(request);
      const match = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/(exec|attach|portforward)$/.exec(pathname);
      if (match === null) throw new PodwrightError('not_found', `${pathname} does not accept an upgrade`);
      const [, namespace = '', name = '', kind = ''] = match.map(decodeURIComponent);
      const url = await this.#options.backend.streamingUrl({ namespace, name }, streamingCall(kind, searchParams));
      if (!serveStream?.({ request, socket, head }, url)) proxyUpgrade(request, { socket, head }, { url, countBuffer });
    } catch (error) {
      const status = statusObject(error);
      const body = JSON.stringify(status);
      socket.end(
        `HTTP/1.1 ${status.code} ${errorCode(error)}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    }
  }
}

/** Matches the paths of the Kubernetes API. The kubelet's own API has no such paths. */
const OF_KUBERNETES = /^\/(api|apis|openapi|version)([/?]|$)/;

/** Deletes pods through the Kubernetes API, but refuses to delete the mirror pods of manifests. */
function deleteRoute(backend: NodeBackend, api: Pick<KubernetesApi, 'handle'>): Route {
  const handler: Handler = async ({ request, response, params }) => {
    backend.refuseFromFile({ namespace: params.namespace!, name: params.name! });
    api.handle(request, response);
  };
  return { method: 'DELETE', path: '/api/v1/namespaces/:namespace/pods/:name', handler };
}

/** Parses the request target. Throws `invalid_argument` if it is not a URL. */
function requestUrl(request: IncomingMessage): URL {
  const url = URL.parse(request.url ?? '/', 'http://node');
  if (url === null) throw new PodwrightError('invalid_argument', 'the request target is not a URL');
  return url;
}

async function sendTransfers(backend: NodeBackend, { response, signal }: Call): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  for await (const transfer of backend.watchTransfers(signal)) await sendLine(response, transfer);
  response.end();
}

async function sendLog(backend: NodeBackend, { response, query, params, signal }: Call): Promise<void> {
  const { container, containerId, previous, ...logOptions } = logQuery(query, Date.now());
  const { ended, ...file } = await backend.log(
    { namespace: params.namespace!, name: params.name! },
    { container, containerId, previous },
    signal,
  );
  await using chunks = readContainerLog(file, logOptions, { ended, signal }); // closes the file even if the client disconnects
  const first = await chunks.next(); // before the headers: an absent log is an error, not an empty response
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).flushHeaders();
  for (let chunk = first; !chunk.done; chunk = await chunks.next()) {
    if (!writeNow(response, chunk.value)) await once(response, 'drain', { signal });
  }
  response.end();
}
