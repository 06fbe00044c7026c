import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type ErrorCode,
  errorCode,
  errorMessage,
  gatherBytes,
  type Logger,
  listenUnix,
  PodwrightError,
  PRIVATE_FILE,
  type Registry,
  type SocketFile,
  shownError,
} from '@podwright/base';
import { proxyUpgrade } from '@podwright/streaming';
import findMyWay from 'find-my-way';
import { MAX_MANIFEST_BYTES } from '../config/manifest.ts';
import { MAX_CONNECTIONS } from '../limits.ts';
import { readLog } from '../logs/log-reader.ts';
import type { NodeBackend } from './node-backend.ts';
import { deleteGrace, isDryRun, logQuery, stopOptions, streamingCall } from './query.ts';

export type LocalServerOptions = { socketPath: string; backend: NodeBackend; logger: Logger; metrics?: Registry };

const KINDS: Record<string, string> = {
  pods: 'Pod',
  configmaps: 'ConfigMap',
  secrets: 'Secret',
  runtimeclasses: 'RuntimeClass',
};

type Call = {
  request: IncomingMessage;
  response: ServerResponse;
  query: URLSearchParams;
  params: Record<string, string | undefined>;
  signal: AbortSignal;
};
type Handler = (call: Call) => Promise<void>;

/** The HTTP API of a lone node (see `local-api.ts`) on its unix socket. */
export class LocalServer {
  readonly #options: LocalServerOptions;
  readonly #router = findMyWay({ ignoreTrailingSlash: true, maxParamLength: 300 });
  readonly #server: Server;
  readonly #upgraded = new Set<Duplex>();
  #socket: SocketFile | undefined;

  constructor(options: LocalServerOptions) {
    this.#options = options;
    this.#addRoutes(options.backend);
    if (options.metrics !== undefined) this.#addMetrics(options.metrics);
    this.#server = createServer((request, response) => this.#router.lookup(request, response));
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head));
  }

  /** Binds the socket, which only its owner may open. `already_exists` when a live node has it. */
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
    this.#on('GET', '/healthz', async ({ response }) => void response.end('ok'));
    this.#on('GET', '/podwright/v1/node', async ({ response }) => sendJson(response, await backend.info()));
    this.#on('GET', '/podwright/v1/traces/:uid', async ({ response, params }) =>
      sendJson(response, backend.traces(params.uid!)),
    );
    this.#on('GET', '/podwright/v1/transfers', async (call) => sendTransfers(backend, call));
    this.#on('POST', '/podwright/v1/apply', async ({ request, response, query }) =>
      sendJson(response, await backend.apply(await readBody(request), { dryRun: isDryRun(query) })),
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
    this.#on('GET', '/api/v1/pods', async (call) => listPods(backend, call));
    this.#on('GET', '/api/v1/namespaces/:namespace/pods', async (call) => listPods(backend, call));
    this.#on('GET', '/api/v1/events', async (call) => listEvents(backend, call));
    this.#on('GET', '/api/v1/namespaces/:namespace/pods/:name', async ({ response, params }) =>
      sendJson(response, findPod(backend, params)),
    );
    this.#on('GET', '/api/v1/namespaces/:namespace/pods/:name/log', async (call) => sendLog(backend, call));
    this.#on('DELETE', '/api/v1/namespaces/:namespace/:plural/:name', async (call) => remove(backend, call));
  }

  #addMetrics(registry: Registry): void {
    this.#on('GET', '/metrics', async ({ response }) => {
      const text = await registry.metrics();
      response.writeHead(200, { 'content-type': registry.contentType }).end(text);
    });
  }

  #on(method: 'GET' | 'POST' | 'DELETE', path: string, handler: Handler): void {
    this.#router.on(method, path, (request, response, params) => {
      const gone = new AbortController();
      response.on('close', () => gone.abort());
      const call = async () =>
        handler({
          request: request as IncomingMessage,
          response: response as ServerResponse,
          query: requestUrl(request as IncomingMessage).searchParams,
          params,
          signal: gone.signal,
        });
      call().catch((error: unknown) => {
        if (gone.signal.aborted) return;
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
      const { pathname, searchParams } = requestUrl(request);
      const match = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/(exec|attach|portforward)$/.exec(pathname);
      if (match === null) throw new PodwrightError('not_found', `there is nothing to upgrade at ${pathname}`);
      const [, namespace = '', name = '', kind = ''] = match.map(decodeURIComponent);
      const url = await this.#options.backend.streamingUrl({ namespace, name }, streamingCall(kind, searchParams));
      proxyUpgrade(request, { socket, head }, url);
    } catch (error) {
      const body = JSON.stringify(statusObject(error));
      const status = HTTP_STATUS[errorCode(error)] ?? 500;
      socket.end(
        `HTTP/1.1 ${status} ${errorCode(error)}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    }
  }
}

/** Throws `invalid_argument`: a client may send a target that is no URL. */
function requestUrl(request: IncomingMessage): URL {
  const url = URL.parse(request.url ?? '/', 'http://node');
  if (url === null) throw new PodwrightError('invalid_argument', 'the target of the request is no URL');
  return url;
}

async function listPods(backend: NodeBackend, { response, query, params, signal }: Call): Promise<void> {
  const wanted = (namespace: string) => params.namespace === undefined || params.namespace === namespace;
  if (query.get('watch') !== 'true') {
    const items = backend.pods().filter(({ metadata }) => wanted(metadata.namespace));
    return sendJson(response, { apiVersion: 'v1', kind: 'PodList', metadata: {}, items });
  }
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  for await (const change of backend.watchPods(signal)) {
    if (wanted(change.object.metadata.namespace)) await sendLine(response, change);
  }
  response.end();
}

async function listEvents(backend: NodeBackend, { response, query, signal }: Call): Promise<void> {
  if (query.get('watch') !== 'true')
    return sendJson(response, { apiVersion: 'v1', kind: 'EventList', metadata: {}, items: backend.events() });
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  for await (const change of backend.watchEvents(signal)) await sendLine(response, change);
  response.end();
}

async function sendTransfers(backend: NodeBackend, { response, signal }: Call): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  for await (const transfer of backend.watchTransfers(signal)) await sendLine(response, transfer);
  response.end();
}

async function sendLog(backend: NodeBackend, { response, query, params, signal }: Call): Promise<void> {
  const { container, containerId, previous, ...wanted } = logQuery(query, Date.now());
  const { path, ended } = await backend.log(
    { namespace: params.namespace!, name: params.name! },
    { container, containerId, previous },
    signal,
  );
  await using chunks = readLog(path, wanted, { ended, signal }); // closes the file also when the reader leaves
  const first = await chunks.next(); // a log that is not there is an error, not an empty answer
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).flushHeaders();
  for (let chunk = first; !chunk.done; chunk = await chunks.next()) {
    if (!response.write(chunk.value)) await once(response, 'drain', { signal });
  }
  response.end();
}

async function remove(backend: NodeBackend, { response, query, params }: Call): Promise<void> {
  const kind = KINDS[params.plural!];
  if (kind === undefined) throw new PodwrightError('not_found', `there are no ${params.plural} here`);
  await backend.remove({ kind, namespace: params.namespace!, name: params.name! }, deleteGrace(query));
  sendJson(response, { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Success' });
}

function findPod(backend: NodeBackend, params: Call['params']) {
  const pod = backend
    .pods()
    .find(({ metadata }) => metadata.namespace === params.namespace && metadata.name === params.name);
  if (pod !== undefined) return pod;
  throw new PodwrightError(
    'not_found',
    `pod ${params.namespace}/${params.name} not found; 'podwright ps' lists the pods`,
  );
}

async function readBody(request: IncomingMessage): Promise<string> {
  const refusal = () => new PodwrightError('invalid_argument', `the manifest is over ${MAX_MANIFEST_BYTES} bytes`);
  return (await gatherBytes(request, MAX_MANIFEST_BYTES, refusal)).toString('utf8');
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function sendLine(response: ServerResponse, value: unknown): Promise<void> {
  if (!response.write(`${JSON.stringify(value)}\n`))
    await Promise.race([once(response, 'drain'), once(response, 'close')]);
}

const HTTP_STATUS: Partial<Record<ErrorCode, number>> = {
  invalid_argument: 400,
  permission_denied: 403,
  not_found: 404,
  already_exists: 409,
  failed_precondition: 409,
  unimplemented: 501,
  unavailable: 503,
  deadline_exceeded: 504,
};

/** A meta/v1 Status object. */
function statusObject(error: unknown): object {
  const code = HTTP_STATUS[errorCode(error)] ?? 500;
  return {
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    message: shownError(error),
    reason: errorCode(error),
    code,
  };
}

function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  response
    .writeHead(HTTP_STATUS[errorCode(error)] ?? 500, { 'content-type': 'application/json' })
    .end(JSON.stringify(statusObject(error)));
}
