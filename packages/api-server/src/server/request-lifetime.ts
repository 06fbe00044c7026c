import { Timer } from '@podwright/base';
import { ApiError, badRequest } from '../status/api-error.ts';
import type { HttpRequest, HttpResponse } from '../wire/http-exchange.ts';
import { parseGoDuration } from './go-duration.ts';

/** Upstream's limit for requests that are not watches, logs and the like. */
export const MAX_REQUEST_MS = 60_000;

/** A response whose client does not read it is dropped after this time. */
const MAX_UNREAD_MS = 60_000;

/** The time limit of a request by its parameter `timeout`. Throws 400 if it is no duration. */
export function timeLimitMs(query: URLSearchParams): number {
  const sent = query.get('timeout') ?? '';
  if (sent === '') return MAX_REQUEST_MS;
  const limit = parseGoDuration(sent);
  if (limit === undefined)
    throw badRequest(`invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(sent)}`);
  return limit > 0 ? Math.min(limit, MAX_REQUEST_MS) : MAX_REQUEST_MS;
}

/** The error for a request whose time has expired. */
export const requestTimeout = (): ApiError =>
  new ApiError(504, 'Timeout', {
    message: 'Timeout: request did not complete within the allotted timeout',
    details: {},
  });

/** Ends the work for a request when the client disconnects, when the time of the request has expired, or when the server stops. */
export class RequestLifetime implements Disposable {
  readonly #response: HttpResponse;
  /** Aborts when the client disconnects. */
  readonly #client = new AbortController();
  readonly #work = new AbortController();
  #timer: Timer | undefined;

  constructor(request: HttpRequest, response: HttpResponse) {
    this.#response = response;
    const disconnected = () => this.#disconnected();
    response.once('close', disconnected);
    // an HTTP/1 client that closes only its side of the connection has ended its request
    request.once('aborted', disconnected);
    for (const stream of [request, response]) stream.on('error', disconnected);
  }

  /** Aborts when the work must end, with the `ApiError` for the client if there is one. */
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

  /** Stops the limit, and drops the response if the client does not read it. */
  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    if (this.#client.signal.aborted) return;
    const unread = new Timer(() => this.#response.destroy(), MAX_UNREAD_MS).unref();
    this.#client.signal.addEventListener('abort', () => unread[Symbol.dispose](), { once: true });
  }

  #disconnected(): void {
    const reason = new Error('the client disconnected');
    this.#client.abort(reason);
    this.#work.abort(reason);
  }
}
