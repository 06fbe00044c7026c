import { ApiError, badRequest } from '@podwright/api-machinery';
import { Timer } from '@podwright/base';
import { parseGoDuration } from '@podwright/kube-api';
import type { HttpRequest, HttpResponse } from '../wire/http-exchange.ts';

/** Default timeout of requests that are not long-running, as in upstream. */
export const MAX_REQUEST_MS = 60_000;

/** How long a client can take to read a response. After that, the response is dropped. */
const MAX_UNREAD_MS = 60_000;

/** Returns the request's timeout, as set by the `timeout` parameter. Throws 400 if the parameter is not a duration. */
export function timeLimitMs(query: URLSearchParams): number {
  const sent = query.get('timeout') ?? '';
  if (sent === '') return MAX_REQUEST_MS;
  const limit = parseGoDuration(sent);
  if (limit === undefined)
    throw badRequest(`invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(sent)}`);
  return limit > 0 ? Math.min(limit, MAX_REQUEST_MS) : MAX_REQUEST_MS;
}

/** Returns the error for a timed-out request. */
export const requestTimeout = (): ApiError =>
  new ApiError(504, 'Timeout', {
    message: 'Timeout: request did not complete within the allotted timeout',
    details: {},
  });

/** The reason with which signals abort after a complete response. */
const ANSWERED = new Error('the response has been sent');

/** Cancels a request's work when the client disconnects, the request times out or the server stops. */
export class RequestLifetime implements Disposable {
  readonly #response: HttpResponse;
  readonly #client = new AbortController();
  readonly #work = new AbortController();
  #timer: Timer | undefined;

  constructor(request: HttpRequest, response: HttpResponse) {
    this.#response = response;
    const disconnected = () => this.#disconnected();
    response.once('close', disconnected);
    // `aborted` is also emitted if an HTTP/1 client half-closes the connection, which counts as a disconnect
    request.once('aborted', disconnected);
    for (const stream of [request, response]) stream.on('error', disconnected);
  }

  /** Aborts when the request's work must stop. If the client is to be notified, the reason is the `ApiError` to send. */
  get signal(): AbortSignal {
    return this.#work.signal;
  }

  /** Aborts when the client disconnects. */
  get client(): AbortSignal {
    return this.#client.signal;
  }

  limit(durationMs: number): void {
    this.#timer = new Timer(() => this.end(requestTimeout()), durationMs);
  }

  end(reason: ApiError): void {
    this.#work.abort(reason);
  }

  /** Stops the timeout timer. Drops the response if the client does not read it in time. */
  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    if (this.#client.signal.aborted) return;
    const unread = new Timer(() => this.#response.destroy(), MAX_UNREAD_MS).unref();
    this.#client.signal.addEventListener('abort', () => unread[Symbol.dispose](), { once: true });
  }

  #disconnected(): void {
    // `close` follows complete responses, too; an error for each of them would cost time for its stack trace
    const reason = this.#response.writableEnded ? ANSWERED : new Error('the client disconnected');
    this.#client.abort(reason);
    this.#work.abort(reason);
  }
}
