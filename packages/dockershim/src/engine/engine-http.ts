import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { gatherBytes, isErrno, PodwrightError, withTimeout, wrapError } from '@podwright/base';
import { CALL_TIMEOUT_MS, IDLE_SOCKETS, MAX_ANSWER_BYTES, MAX_ERROR_BYTES } from '../limits.ts';
import { engineError } from './engine-error.ts';

/** A call to the Engine API. */
export type EngineCall = {
  /** Prefix of error messages, such as `start container NAME`. */
  what: string;
  method: 'GET' | 'POST' | 'DELETE';
  /** Path after the API version, such as `/containers/json`, with IDs and names percent-encoded. */
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  /** Body to send as JSON. */
  body?: unknown;
  /** Body to send unchanged: a tar archive. */
  archive?: Readable;
  headers?: Record<string, string>;
  /** Set for non-GET calls that do not affect lists, so that `changes` does not count them. */
  changesNothing?: boolean;
  signal?: AbortSignal;
  /** Timeout for the response headers or, in `json` and `done`, for the whole response. Default: 2 minutes. */
  timeoutMs?: number;
  /** Omits the API version from the path, in order to negotiate it. Every Engine accepts such a path. */
  isUnversioned?: boolean;
};

/** Decodes a response. Throws if it does not have the expected shape. */
export type Decoder<T> = (value: unknown) => T;

/**
 * A connection that carries a container's streams after an HTTP upgrade. `head` contains the bytes received along with the response
 * headers.
 */
export type HijackedConnection = { socket: Socket; head: Buffer };

/**
 * HTTP client for the Engine's Unix socket. Calls throw `unavailable` if the Engine does not respond; otherwise errors have the Engine's
 * message and a code derived from the HTTP status.
 */
export class EngineHttp {
  readonly #socketPath: string;
  #prefix: string;
  readonly #agent: Agent;
  #changes = 0;
  #changing = 0;

  /** `apiVersion` is the API version for calls, such as `1.41`. */
  constructor(socketPath: string, apiVersion: string) {
    this.#socketPath = socketPath;
    this.#prefix = `/v${apiVersion}`;
    this.#agent = new Agent({ keepAlive: true, maxFreeSockets: IDLE_SOCKETS });
  }

  /** A counter that is incremented before and after each call that might change the Engine's state. */
  get changes(): number {
    return this.#changes;
  }

  /** Whether a call that might change the Engine's state is in flight. */
  get isChanging(): boolean {
    return this.#changing > 0;
  }

  /** Sets the API version for all later calls. */
  speak(apiVersion: string): void {
    this.#prefix = `/v${apiVersion}`;
  }

  /** Makes a call and decodes its JSON response. */
  async json<T>(call: EngineCall, decode: Decoder<T>): Promise<T> {
    using signal = withTimeout(call.signal, call.timeoutMs ?? CALL_TIMEOUT_MS, call.what);
    const text = await this.#whole(await this.#answer({ ...call, signal }), call.what);
    try {
      return decode(JSON.parse(text));
    } catch (error) {
      throw wrapError(`${call.what}: the Docker Engine's answer is not as expected`, error, 'internal');
    }
  }

  /** Makes a call and ignores the response body. */
  async done(call: EngineCall): Promise<void> {
    using signal = withTimeout(call.signal, call.timeoutMs ?? CALL_TIMEOUT_MS, call.what);
    await this.#whole(await this.#answer({ ...call, signal }), call.what);
  }

  /** Makes a call and returns its response as a stream, which the caller must read or destroy. Aborting `signal` ends the stream. */
  async stream(call: EngineCall): Promise<IncomingMessage> {
    const head = new AbortController();
    using bound = withTimeout(call.signal, call.timeoutMs ?? CALL_TIMEOUT_MS, call.what);
    bound.addEventListener('abort', () => head.abort(bound.reason), { once: true });
    const signal = call.signal === undefined ? head.signal : AbortSignal.any([call.signal, head.signal]);
    return await this.#answer({ ...call, signal });
  }

  /**
   * Makes a call that upgrades the connection to a raw byte stream (`Upgrade: tcp`). Nothing but the request is written to the connection;
   * it has no body unless `body` is given. Ending the socket's writable side closes the container's stdin; output continues.
   */
  async hijack(call: EngineCall): Promise<HijackedConnection> {
    using signal = withTimeout(call.signal, call.timeoutMs ?? CALL_TIMEOUT_MS, call.what);
    const { promise, resolve, reject } = Promise.withResolvers<HijackedConnection>();
    const outgoing = this.#request({ ...call, signal }, { connection: 'Upgrade', upgrade: 'tcp' });
    outgoing.on('upgrade', (_response, socket, head) => resolve({ socket: socket as Socket, head }));
    outgoing.on('error', (error) => reject(this.#explain(call.what, signal, error)));
    outgoing.on('response', (response) => {
      this.#whole(response, call.what).then(
        () => reject(engineError(call.what, 500, 'the Docker Engine did not upgrade the connection')),
        reject,
      );
    });
    return await promise;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #answer(call: EngineCall): Promise<IncomingMessage> {
    if (call.method === 'GET' || call.changesNothing) return await this.#head(call);
    this.#changes++;
    this.#changing++;
    try {
      return await this.#head(call);
    } finally {
      this.#changes++;
      this.#changing--;
    }
  }

  async #head(call: EngineCall, isAgain = false): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = this.#request(call, {});
    outgoing.on('response', resolve);
    call.archive?.once('error', (error) => reject(wrapError(`${call.what}: read the archive`, error)));
    outgoing.on('error', (error) => {
      // the keep-alive connection is stale, for example because the Engine was restarted
      const isStale = outgoing.reusedSocket && isErrno(error, 'ECONNRESET') && !call.signal?.aborted;
      if (isStale && call.method === 'GET' && !isAgain) resolve(this.#head(call, true));
      else reject(this.#explain(call.what, call.signal, error));
    });
    const response = await promise;
    if (isSuccess(response)) return response;
    throw await this.#failure(response, call.what);
  }

  #request(call: EngineCall, headers: Record<string, string>): ClientRequest {
    const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
    const isUpgrade = headers.upgrade !== undefined;
    const outgoing = request({
      socketPath: this.#socketPath,
      method: call.method,
      path: (call.isUnversioned ? '' : this.#prefix) + call.path + encodeQuery(call.query),
      signal: call.signal,
      agent: isUpgrade ? false : this.#agent,
      // otherwise node:net would close the writable side when the container's output ends
      ...(isUpgrade && { createConnection: () => connect({ path: this.#socketPath, allowHalfOpen: true }) }),
      headers: {
        host: 'docker',
        ...headers,
        ...call.headers,
        ...(call.archive !== undefined && { 'content-type': 'application/x-tar' }),
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': body.length }),
      },
    });
    if (call.archive === undefined) outgoing.end(body);
    else pipeline(call.archive, outgoing, () => undefined); // its error also makes the call fail
    return outgoing;
  }

  async #whole(response: IncomingMessage, what: string): Promise<string> {
    if (!isSuccess(response)) throw await this.#failure(response, what);
    const refusal = () =>
      new PodwrightError('resource_exhausted', `${what}: the Docker Engine's answer is over ${MAX_ANSWER_BYTES} bytes`);
    try {
      return (await gatherBytes(response, MAX_ANSWER_BYTES, refusal)).toString('utf8');
    } catch (error) {
      throw error instanceof PodwrightError ? error : wrapError(`${what}: read the answer`, error, 'unavailable');
    }
  }

  async #failure(response: IncomingMessage, what: string): Promise<PodwrightError> {
    const cut = () => new PodwrightError('internal', '');
    const body = await gatherBytes(response, MAX_ERROR_BYTES, cut).catch(() => Buffer.alloc(0));
    return engineError(what, response.statusCode ?? 500, body.toString('utf8'));
  }

  #explain(what: string, signal: AbortSignal | undefined, error: Error): PodwrightError {
    if (signal?.aborted) {
      const { reason } = signal;
      // the timeout error of this call already contains the call's name
      return reason instanceof PodwrightError && reason.message.startsWith(what) ? reason : wrapError(what, reason);
    }
    if (isErrno(error, 'EACCES')) return wrapError(`${what}: open ${this.#socketPath}`, error, 'permission_denied');
    const message = `${what}: the Docker Engine does not answer on ${this.#socketPath}`;
    return wrapError(message, error, 'unavailable');
  }
}

/**
 * Whether the status code means success. Redirects count as failures, because they are not followed. 304 means that the container is
 * already in the requested state.
 */
function isSuccess({ statusCode = 500 }: IncomingMessage): boolean {
  return statusCode < 300 || statusCode === 304;
}

function encodeQuery(query: EngineCall['query'] = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? '' : `?${parameters}`;
}
