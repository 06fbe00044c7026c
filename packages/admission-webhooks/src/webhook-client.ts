/** Sends reviews to webhooks over HTTPS and keeps connections open for later reviews. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import { clientCiphers, clientContext, gatherBytes, nodeLookups, sleep } from '@podwright/base';
import { CallError } from './call-error.ts';
import { callProblem } from './call-problem.ts';
import type { WebhookTarget } from './webhook-target.ts';

/** Maximum size of a webhook's response: more than a base64-encoded patch of the largest object needs. */
const MAX_RESPONSE_BYTES = 8 << 20;

/** Maximum number of webhooks with open connections, as in upstream (apiserver, util/webhook/client.go). */
const MAX_AGENTS = 200;
/**
 * Maximum number of connections to one webhook. It exceeds the server's limit on concurrent requests, so that a caller who makes a webhook
 * slow (for example with the name of an image in an unresponsive registry) cannot occupy all connections to it.
 */
const MAX_SOCKETS = 1000;
const MAX_IDLE_SOCKETS = 25;
/** The maximum for `timeoutSeconds` in the API. */
const MAX_TIMEOUT_MS = 30_000;
/** Idle connections are closed after this time, as in Go's default transport. */
const IDLE_TIMEOUT_MS = 90_000;
/** Maximum number of retries a webhook can request with `Retry-After`, as in upstream (client-go, rest/with_retry.go). */
const MAX_RETRIES = 10;

/** The response of a webhook. `retryAfter` is the value of its `Retry-After` header. */
export type WebhookAnswer = { status: number; body: Buffer; retryAfter?: string | undefined };

export class WebhookClient {
  readonly #agents = new Map<string, Agent>();

  /**
   * Sends a review and returns the response, whatever its status. Rejects with `CallError` if the webhook cannot be reached or does not
   * respond within `timeoutSeconds`, and with the signal's reason if the signal aborts.
   */
  async post(
    target: WebhookTarget,
    body: Buffer,
    options: { timeoutSeconds: number; signal: AbortSignal | undefined },
  ): Promise<WebhookAnswer> {
    const { timeoutSeconds, signal } = options;
    const path = `${target.path}?timeout=${timeoutSeconds}s`;
    const late = AbortSignal.timeout(Math.min(timeoutSeconds * 1000, MAX_TIMEOUT_MS));
    const until = signal === undefined ? late : AbortSignal.any([late, signal]);
    try {
      return await this.#repeat({ ...target, path }, body, until);
    } catch (error) {
      signal?.throwIfAborted();
      const problem = late.aborted ? 'context deadline exceeded' : callProblem(error, target);
      throw new CallError(`failed to call webhook: Post "https://${target.authority}${path}": ${problem}`);
    }
  }

  /** Sends a review, and retries it if the response has a `Retry-After` header, as from an overloaded webhook. */
  async #repeat(target: WebhookTarget, body: Buffer, signal: AbortSignal): Promise<WebhookAnswer> {
    for (let retries = 0; ; retries++) {
      const answer = await this.#send(target, body, signal);
      const waitSeconds = waitOf(answer);
      if (waitSeconds === undefined || retries === MAX_RETRIES) return answer;
      await sleep(waitSeconds * 1000, signal);
    }
  }

  async #send(target: WebhookTarget, body: Buffer, signal: AbortSignal): Promise<WebhookAnswer> {
    for (;;) {
      const exchange = new Exchange(this.#options(target), body, signal);
      try {
        return await exchange.answer;
      } catch (error) {
        // the webhook closed an idle connection: retry on another one, within the same timeout
        const isStale = exchange.isReused && ['ECONNRESET', 'EPIPE'].includes((error as { code?: string }).code ?? '');
        if (!isStale || exchange.isAnswered) throw error;
      }
    }
  }

  #options(target: WebhookTarget): RequestOptions {
    const { authority, host, port, path, serverName } = target;
    return {
      ...{ host, port, path, method: 'POST', agent: this.#agent(target) },
      servername: isIP(serverName) === 0 ? serverName : '',
      lookup: nodeLookups.lookup,
      headers: { host: authority },
    };
  }

  #agent({ authority, authorities }: WebhookTarget): Agent {
    const key = JSON.stringify([authority, authorities]);
    const known = this.#agents.get(key);
    const agent = known ?? newAgent(authorities);
    this.#agents.delete(key);
    this.#agents.set(key, agent);
    if (this.#agents.size > MAX_AGENTS) {
      const [oldest, other] = this.#agents.entries().next().value!;
      this.#agents.delete(oldest);
      // closes only idle connections; those with a request in flight are closed later, by the idle timeout
      for (const socket of Object.values(other.freeSockets).flat()) socket?.destroy();
    }
    return agent;
  }

  /** Closes all connections to webhooks. */
  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }
}

function waitOf({ status, retryAfter = '' }: WebhookAnswer): number | undefined {
  const isRetryable = status === 429 || status >= 500;
  return isRetryable && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined;
}

function newAgent(authorities: string): Agent {
  const secureContext = clientContext('server', {
    ...(authorities !== '' && { ca: authorities }),
    ...{ ciphers: clientCiphers(), minVersion: 'TLSv1.2' },
  });
  return new Agent({
    ...{ keepAlive: true, maxSockets: MAX_SOCKETS, maxFreeSockets: MAX_IDLE_SOCKETS, timeout: IDLE_TIMEOUT_MS },
    secureContext,
    rejectUnauthorized: true,
  });
}

/** A request and its response. Redirects are not followed. */
class Exchange {
  readonly answer: Promise<WebhookAnswer>;
  readonly #request: ClientRequest;
  /** Whether the webhook has started to respond. */
  isAnswered = false;

  constructor(options: RequestOptions, body: Buffer, signal: AbortSignal) {
    const { promise, resolve, reject } = Promise.withResolvers<WebhookAnswer>();
    this.answer = promise;
    const headers = {
      ...{
        'content-type': 'application/json',
        accept: 'application/json, */*',
        'user-agent': 'kube-apiserver-admission',
      },
      ...options.headers,
      'content-length': body.length,
    };
    this.#request = httpsRequest({ ...options, headers, signal });
    this.#request.on('error', reject);
    this.#request.on('response', (response) => {
      this.isAnswered = true;
      read(response).then(resolve, reject);
    });
    this.#request.end(body);
  }

  /** Whether the request was sent on a previously idle connection. */
  get isReused(): boolean {
    return this.#request.reusedSocket;
  }
}

async function read(response: IncomingMessage): Promise<WebhookAnswer> {
  const refusal = () => new Error(`the response is larger than ${MAX_RESPONSE_BYTES} bytes`);
  const body = await gatherBytes(response, MAX_RESPONSE_BYTES, refusal);
  return { status: response.statusCode ?? 0, body, retryAfter: response.headers['retry-after'] };
}
