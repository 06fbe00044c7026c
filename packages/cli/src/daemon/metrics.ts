import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createLogger,
  errorMessage,
  isProbeMetric,
  type Logger,
  metricsText,
  processMetrics,
  Registry,
  wrapError,
} from '@podwright/base';
import { METRICS_KEPT_MS, SCRAPER_TIMEOUT_MS } from '../limits.ts';
import type { ListenAddress } from '../settings/listen-address.ts';
import type { NodeConfig } from '../settings/node-config.ts';

/** Maximum number of connections; a scraper needs only one. */
const MAX_CONNECTIONS = 64;
const MAX_HEADER_BYTES = 8 << 10;

/** A daemon's metrics. Disposing this closes the server on `metrics_address`. */
export type OpenMetrics = AsyncDisposable & { registry: Registry };

/** Returns the daemon's current problem, for `/healthz`; `undefined` if there is none. */
export type Problem = () => string | undefined;

/**
 * Creates a registry with the metrics of this process and, if `metrics_address` is set, serves it there. Rejects if the address is unusable.
 */
export async function openMetrics(
  config: Pick<NodeConfig, 'metrics_address' | 'log_level'>,
  problem: Problem = () => undefined,
): Promise<OpenMetrics> {
  const address = config.metrics_address;
  const registry = new Registry();
  processMetrics(registry);
  if (address === undefined) return { registry, [Symbol.asyncDispose]: async () => undefined };
  const logger = createLogger({ name: 'metrics', level: config.log_level });
  const server = new MetricsServer(registry, logger, problem);
  await server.listen(address);
  return { registry, [Symbol.asyncDispose]: () => server.close() };
}

/**
 * Serves `GET /metrics` in the Prometheus text format, and `GET /healthz`, to any client that can connect. The metrics must therefore not
 * contain the names of pods or images.
 */
export class MetricsServer {
  readonly #server: Server;
  readonly #logger: Logger;

  constructor(registry: Registry, logger: Logger, problem: Problem = () => undefined) {
    this.#logger = logger;
    const limits = {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: SCRAPER_TIMEOUT_MS,
      requestTimeout: SCRAPER_TIMEOUT_MS,
      keepAliveTimeout: SCRAPER_TIMEOUT_MS,
      connectionsCheckingInterval: SCRAPER_TIMEOUT_MS / 10,
    };
    this.#server = createServer(limits, answerScrapes(registry, logger, problem));
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.setTimeout(SCRAPER_TIMEOUT_MS);
  }

  /** Starts listening, and returns the address with the actual port. */
  async listen({ host, port }: ListenAddress): Promise<AddressInfo> {
    try {
      this.#server.listen(port, host);
      await once(this.#server, 'listening'); // rejects with the server's error
    } catch (error) {
      throw wrapError(`serve metrics on ${host} port ${port}`, error);
    }
    this.#server.on('error', (error) => this.#logger.warn({ error: errorMessage(error) }, 'metrics server'));
    const bound = this.#server.address() as AddressInfo;
    this.#logger.info({ address: bound.address, port: bound.port }, 'serving metrics');
    return bound;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}

function answerScrapes(registry: Registry, logger: Logger, problem: Problem): RequestListener {
  let text: Promise<string> | undefined;
  const current = () => {
    if (text === undefined) {
      text = metricsText(registry, (name) => !isProbeMetric(name));
      setTimeout(() => {
        text = undefined;
      }, METRICS_KEPT_MS).unref();
    }
    return text;
  };
  return (request, response) => {
    request.resume();
    const path = request.url?.split('?')[0];
    if (path === '/healthz' && request.method === 'GET') {
      const wrong = problem();
      return response.writeHead(wrong === undefined ? 200 : 500).end(wrong ?? 'ok');
    }
    if (path !== '/metrics') return response.writeHead(404).end('metrics are at /metrics\n');
    if (request.method !== 'GET') return response.writeHead(405, { allow: 'GET' }).end('only GET\n');
    current().then(
      (body) => response.writeHead(200, { 'content-type': registry.contentType }).end(body),
      (error: unknown) => {
        logger.error({ error: errorMessage(error) }, 'failed to collect metrics');
        response.writeHead(500).end();
      },
    );
  };
}
