import { createHash } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import tls from 'node:tls';
import { clientCiphers, clientContext, PodwrightError, registryLookups, Timer, wrapError } from '@podwright/base';
import {
  ADDRESS_TIMEOUT_MS,
  IDLE_CONNECTION_MS,
  MAX_HEAD_BYTES,
  MAX_INTERIM_RESPONSES,
  MAX_REDIRECTS,
} from '../limits.ts';
import { connectionError, isTlsMismatch, shownUrl } from './connection-error.ts';
import { readBody, readDocument } from './http-body.ts';
import { isLoopback, type RegistryTls } from './registry-host.ts';

export type HttpRequest = {
  method: 'GET' | 'HEAD' | 'POST';
  url: string;
  headers: Record<string, string | string[]>;
  body?: string;
  tls: RegistryTls;
  /** Whether to fall back to plain HTTP if the server does not speak TLS. */
  fallsBackToHttp?: boolean;
  /** Maximum time to establish a new connection. */
  dialTimeoutMs?: number;
  signal: AbortSignal;
};

export type HttpResponse = {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** The final URL, after redirects. */
  url: string;
  /**
   * The response body. Can be read only once, though not necessarily to its end. Callers that do not read it must `discard` the response.
   */
  body: AsyncIterable<Buffer>;
  /** Reads a small body in bounded time. `what` is the prefix of the error message if the body is too large or takes too long. */
  document(maxBytes: number, what: string): Promise<Buffer>;
  discard(): void;
};

export type HttpClientOptions = {
  /** Maximum time without receiving any bytes, in ms. */
  stallTimeoutMs: number;
  /** Maximum time to read the body with `document`, in ms. */
  documentTimeoutMs: number;
  /** How long an idle connection stays open, in ms. Default: 90 s. */
  idleTimeoutMs?: number;
  /** Environment variables; HTTP_PROXY, HTTPS_PROXY and NO_PROXY are used. */
  environment: NodeJS.ProcessEnv;
};

/** Headers kept on a redirect to another host. Must not include credentials. */
const HARMLESS_HEADERS = ['accept', 'range', 'user-agent'];

/**
 * Emulates Go's client, which registries and token servers are tested with. It accepts bare LFs, folded header fields, a Content-Length in
 * addition to chunked encoding, and many header fields. These options make Node's parser accept most of that.
 */
const LENIENT = { insecureHTTPParser: true, maxHeaderSize: MAX_HEAD_BYTES };

/**
 * HTTP and HTTPS client with persistent connections, redirects, proxies and a stall timeout. Any HTTP status is returned as a response;
 * none is thrown as an error.
 */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #agents = new Map<string, http.Agent>();
  /** `host:port` of servers found to speak plain HTTP. */
  readonly #plain = new Set<string>();

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  /** Sends a request and follows redirects. Rejects with `unavailable` or `deadline_exceeded` if no response is received. */
  async send(request: HttpRequest): Promise<HttpResponse> {
    let current = request;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const response = await this.#sendWithFallback(current);
      const location = response.headers.location;
      if (!location || ![301, 302, 303, 307, 308].includes(response.status) || request.method === 'POST')
        return response;
      response.discard();
      current = redirect(current, response.url, location);
    }
    const what = `${request.method} ${shownUrl(request.url)}`;
    throw new PodwrightError('unavailable', `${what}: more than ${MAX_REDIRECTS} redirects`);
  }

  /** Closes the idle connections. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  async #sendWithFallback(request: HttpRequest): Promise<HttpResponse> {
    const plainUrl = request.url.replace(/^https:/, 'http:');
    const { host } = new URL(request.url);
    if (!request.fallsBackToHttp || plainUrl === request.url) return this.#sendOnce(request);
    if (this.#plain.has(host)) return this.#sendOnce({ ...request, url: plainUrl });
    try {
      return await this.#sendOnce(request);
    } catch (error) {
      if (!(error instanceof PodwrightError) || !isTlsMismatch(error.cause)) throw error;
      this.#plain.add(host);
      return this.#sendOnce({ ...request, url: plainUrl });
    }
  }

  #sendOnce(request: HttpRequest): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    const { signal, url } = request;
    if (signal.aborted) return Promise.reject(signal.reason);
    const { stallTimeoutMs, documentTimeoutMs: timeoutMs } = this.#options;
    const outgoing = (url.startsWith('https:') ? https : http).request(url, {
      method: request.method,
      headers: request.headers,
      agent: this.#agentFor(url, request.tls),
      ...LENIENT,
    });
    const stalled = () =>
      new PodwrightError('deadline_exceeded', `${request.method} ${shownUrl(url)}: no byte for ${stallTimeoutMs} ms`);
    const timer = new Timer(() => outgoing.destroy(stalled()), stallTimeoutMs);
    if (request.dialTimeoutMs !== undefined) boundDial(outgoing, request.dialTimeoutMs);
    const onAbort = () => outgoing.destroy(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const settle = () => {
      timer[Symbol.dispose]();
      signal.removeEventListener('abort', onAbort);
    };
    boundInterimResponses(outgoing, `${request.method} ${shownUrl(url)}`);
    outgoing.on('response', (message) => {
      settle();
      message.on('error', () => undefined); // the reader of the body throws the error
      resolve({
        status: message.statusCode ?? 0,
        headers: message.headers,
        url,
        body: readBody(message, { stallTimeoutMs, signal, url }),
        document: (maxBytes, what) => readDocument(message, { stallTimeoutMs, signal, url, maxBytes, timeoutMs, what }),
        discard: () => discard(message),
      });
    });
    outgoing.on('error', (error) => {
      settle();
      reject(signal.aborted ? signal.reason : connectionError(error, url));
    });
    // after a 101 response, Node.js emits neither `response` nor `error`, so reject the promise here
    outgoing.on('close', () => {
      settle();
      reject(new PodwrightError('unavailable', `${request.method} ${shownUrl(url)}: the server sent no HTTP response`));
    });
    outgoing.end(request.body);
    return promise;
  }

  #agentFor(url: string, settings: RegistryTls): http.Agent {
    const { protocol, host } = new URL(url);
    // like Go's clients, never use a proxy for loopback
    const proxyEnv = isLoopback(host) ? undefined : this.#options.environment;
    const secure = protocol === 'https:';
    const settingsKey = secure ? createHash('sha256').update(JSON.stringify(settings)).digest('hex') : '';
    const key = `${protocol} ${proxyEnv === undefined} ${settingsKey}`;
    const known = this.#agents.get(key);
    if (known !== undefined) return known;
    const { idleTimeoutMs: timeout = IDLE_CONNECTION_MS } = this.#options;
    const { lookup } = registryLookups;
    const common = { keepAlive: true, timeout, proxyEnv, autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS, lookup };
    const agent = secure ? new https.Agent({ ...common, ...secureOptions(settings, host) }) : new http.Agent(common);
    this.#agents.set(key, agent);
    return agent;
  }
}

/** Aborts a request after too many interim (1xx) responses. `what` is the prefix of the error. */
function boundInterimResponses(outgoing: http.ClientRequest, what: string): void {
  let count = 0;
  outgoing.on('information', () => {
    if (++count <= MAX_INTERIM_RESPONSES) return;
    const why = `more than ${MAX_INTERIM_RESPONSES} interim responses (1xx)`;
    outgoing.destroy(new PodwrightError('unavailable', `${what}: ${why}`));
  });
}

function boundDial(outgoing: http.ClientRequest, timeoutMs: number): void {
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) return;
    const giveUp = () =>
      outgoing.destroy(Object.assign(new Error(`no connection in ${timeoutMs} ms`), { code: 'ETIMEDOUT' }));
    const timer = new Timer(giveUp, timeoutMs);
    for (const event of ['connect', 'close'] as const) socket.once(event, () => timer[Symbol.dispose]());
  });
}

/** Creates the TLS context once per agent, because parsing a hundred or more CA certificates takes longer than a handshake. */
function secureOptions(settings: RegistryTls, host: string): tls.ConnectionOptions {
  try {
    const secureContext = clientContext('server', {
      ciphers: clientCiphers(),
      ca: [...tls.getCACertificates('default'), ...tls.getCACertificates('system'), ...settings.ca],
      cert: settings.clientCertificates.map(({ certificate }) => certificate),
      key: settings.clientCertificates.map(({ key }) => key),
    });
    return { secureContext, rejectUnauthorized: !settings.skipVerify };
  } catch (error) {
    const what = `connect to ${host}: use the certificates and keys that its hosts.toml names`;
    throw wrapError(what, error, 'failed_precondition');
  }
}

function redirect(request: HttpRequest, from: string, location: string): HttpRequest {
  const target = URL.parse(location, from);
  if (target === null || !['http:', 'https:'].includes(target.protocol)) {
    const scheme = target?.protocol ?? 'an invalid URL';
    throw new PodwrightError('unavailable', `${request.method} ${shownUrl(from)}: redirected to ${scheme}`);
  }
  const source = new URL(from);
  const same = target.host === source.host && (target.protocol === source.protocol || target.protocol === 'https:');
  const headers = Object.entries(request.headers).filter(
    ([name]) => same || HARMLESS_HEADERS.includes(name.toLowerCase()),
  );
  return { ...request, url: target.href, headers: Object.fromEntries(headers), fallsBackToHttp: false };
}

/** Drains a small response body, so that the connection can be reused; closes the connection if the body is large. */
function discard(message: http.IncomingMessage): void {
  if (Number(message.headers['content-length'] ?? Number.NaN) <= 64 * 1024) message.resume();
  else message.destroy();
}
