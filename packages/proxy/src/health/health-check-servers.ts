import { createServer, type Server, type ServerResponse } from 'node:http';
import { errorMessage, type Logger } from '@podwright/base';
import type { HealthCheck } from '../services/health-check.ts';

type Running = { port: number; addresses: string; servers: Server[]; localEndpoints: number };

export type HealthCheckServersOptions = {
  /** Whether the proxy itself is healthy. */
  isHealthy: () => boolean;
  logger: Logger;
};

/** Maximum time for receiving a request. Requests have no body. */
const REQUEST_TIMEOUT_MS = 5000;
/** Maximum number of connections per server. Ample, because a load balancer connects only now and then. */
const MAX_CONNECTIONS = 256;

/** Servers for health check ports: one per Service and node address. */
export class HealthCheckServers {
  readonly #options: HealthCheckServersOptions;
  readonly #running = new Map<string, Running>();

  constructor(options: HealthCheckServersOptions) {
    this.#options = options;
  }

  /** Starts, updates and stops servers so that these checks are served at these addresses. A port in use is retried at the next call. */
  async update(checks: HealthCheck[], addresses: string[]): Promise<void> {
    const wanted = new Map(checks.map((check) => [`${check.namespace}/${check.name}`, check]));
    const joined = addresses.join(' ');
    for (const [key, running] of this.#running)
      if (wanted.get(key)?.port !== running.port || running.addresses !== joined) this.#stop(key, running);
    for (const [key, check] of wanted) {
      const running = this.#running.get(key);
      if (running === undefined) await this.#start(key, check, addresses);
      else running.localEndpoints = check.localEndpoints;
    }
  }

  close(): void {
    for (const [key, running] of this.#running) this.#stop(key, running);
  }

  async #start(key: string, check: HealthCheck, addresses: string[]): Promise<void> {
    const running: Running = { ...check, addresses: addresses.join(' '), servers: [] };
    this.#running.set(key, running);
    try {
      for (const address of addresses)
        running.servers.push(await listen((response) => this.#answer(check, running, response), address, check.port));
    } catch (error) {
      this.#stop(key, running);
      const fields = { service: key, port: check.port, error: errorMessage(error) };
      this.#options.logger.warn(fields, 'cannot serve the health check port of a service');
    }
  }

  #stop(key: string, { servers }: Running): void {
    this.#running.delete(key);
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  /** Responds like kube-proxy: 200 if this node has ready endpoints and the proxy works, otherwise 503. */
  #answer({ namespace, name }: HealthCheck, { localEndpoints }: Running, response: ServerResponse): void {
    const serviceProxyHealthy = this.#options.isHealthy();
    response.writeHead(localEndpoints > 0 && serviceProxyHealthy ? 200 : 503, {
      'Content-Type': 'application/json',
      'X-Content-Type-Options': 'nosniff',
      'X-Load-Balancing-Endpoint-Weight': String(localEndpoints),
    });
    response.end(JSON.stringify({ service: { namespace, name }, localEndpoints, serviceProxyHealthy }, null, 1));
  }
}

async function listen(answer: (response: ServerResponse) => void, host: string, port: number): Promise<Server> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (_request, response) => answer(response));
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen({ host, port }, resolve));
  return server;
}
