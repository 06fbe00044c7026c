import {
  codeOfHttpStatus,
  errorCode,
  errorMessage,
  gatherBytes,
  isErrno,
  isRecord,
  linesOf,
  PodwrightError,
  wrapError,
} from '@podwright/base';
import { MAX_SOCKET_PATH_BYTES } from '@podwright/host';
import type { Decoder } from './answers.ts';
import { exchange, type HttpResponse } from './http-exchange.ts';

export type HttpCall = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
  path: string;
  query?: Record<string, string | string[] | undefined>;
  body?: string;
  contentType?: string;
  accept?: string;
  signal?: AbortSignal;
};

/** Maximum size of a response, or of a single line of a streamed response. */
const MAX_ANSWER_BYTES = 64 << 20;

/** Calls an HTTP API over a Unix socket. Errors carry the message of the API's `Status` object. */
export class UnixHttp {
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /** Sends a request and returns the response body, decoded from JSON. */
  async json<T>(call: HttpCall, decode: Decoder<T>): Promise<T> {
    const text = await readAll(await this.stream(call));
    try {
      return decode(parseJson(text));
    } catch (error) {
      throw await this.#withSkew(error);
    }
  }

  /** Sends a request. Resolves once the response header has arrived; the caller reads the response body. */
  async stream(call: HttpCall): Promise<HttpResponse> {
    const response = await this.#send(call);
    if (response.statusCode < 300) return response;
    const body = await readAll(response);
    const error = statusError(response.statusCode, body);
    throw isUnknownCall(response.statusCode, body) ? await this.#withSkew(error) : error;
  }

  /**
   * Returns the error to report for a failed call. If the node runs a different version, appends advice to restart the node, because the
   * version skew might be the cause.
   */
  async #withSkew(error: unknown): Promise<unknown> {
    const { skewOfNode } = await import('./version-skew.ts'); // loaded late: few calls fail
    const skew = await skewOfNode(this.#socketPath);
    if (skew === undefined) return error;
    return new PodwrightError(errorCode(error), `${errorMessage(error)}; ${skew}`, { cause: error });
  }

  async #send(call: HttpCall, isAgain = false): Promise<HttpResponse> {
    const { method, body, contentType, accept, signal } = call;
    const path = call.path + encodeQuery(call.query ?? {});
    const headers: Record<string, string> = {
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...(accept === undefined ? {} : { accept }),
    };
    try {
      return await exchange(this.#socketPath, { method, path, headers, body, signal });
    } catch (error) {
      if (isAway(error) && !isAgain) {
        const { hasStarted } = await import('./starting-node.ts'); // loaded late: most calls find a running node
        if (await hasStarted(this.#socketPath, signal)) return await this.#send(call, true);
      }
      throw error instanceof PodwrightError ? error : this.#explain(error);
    }
  }

  #explain(error: unknown): PodwrightError {
    if (isAway(error)) return noNode(this.#socketPath, error);
    if (isErrno(error, 'EACCES')) {
      return new PodwrightError(
        'permission_denied',
        `open ${this.#socketPath}: only root may; call podwright with sudo`,
      );
    }
    const length = Buffer.byteLength(this.#socketPath);
    if (length > MAX_SOCKET_PATH_BYTES) {
      const message = `call the node on ${this.#socketPath}: the path has ${length} bytes; Linux allows ${MAX_SOCKET_PATH_BYTES} for a socket: choose a shorter --state`;
      return new PodwrightError('invalid_argument', message);
    }
    return wrapError(`call the node on ${this.#socketPath}`, error);
  }
}

const isAway = (error: unknown): boolean => isErrno(error, 'ENOENT') || isErrno(error, 'ECONNREFUSED');

/** Returns the error to report if no node is running. `cause` is the system error. */
export function noNode(socketPath: string, cause: unknown): PodwrightError {
  return new PodwrightError(
    'unavailable',
    `no node is running (nothing answers on ${socketPath}); start one with 'podwright run FILE' or 'podwright node'`,
    { cause },
  );
}

/**
 * Whether a call failed because no node is running. The code `unavailable` alone is not enough, because a running node can return it as
 * well.
 */
export function isNoNode(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return errorCode(error) === 'unavailable' && isAway(cause);
}

/** Whether the connection ended before the response was complete, because the node stopped or is restarting. */
export function isLostConnection(error: unknown): boolean {
  const errors = error instanceof Error ? [error, error.cause] : [];
  return errors.some((one) => isErrno(one, 'ECONNRESET') || isErrno(one, 'EPIPE'));
}

function encodeQuery(query: Record<string, string | string[] | undefined>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : value === undefined ? [] : [value]) parameters.append(name, item);
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

async function readAll(response: HttpResponse): Promise<string> {
  const refusal = () => new PodwrightError('resource_exhausted', `the node's answer is over ${MAX_ANSWER_BYTES} bytes`);
  return (await gatherBytes(response, MAX_ANSWER_BYTES, refusal)).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw wrapError("read the node's answer", error, 'internal');
  }
}

function statusError(statusCode: number, body: string): PodwrightError {
  return new PodwrightError(
    codeOfHttpStatus(statusCode, 'already_exists') ?? 'internal',
    statusMessage(body).trim() || `the node answered ${statusCode}`,
  );
}

/** Returns the message of the `Status` object in a response body, or the body's text if it is not a `Status`. */
function statusMessage(body: string): string {
  try {
    const status: unknown = JSON.parse(body);
    if (typeof status === 'object' && status !== null && 'message' in status && typeof status.message === 'string')
      return status.message;
  } catch {
    // ignore the error: a body that is not JSON is returned as text
  }
  return body;
}

/** Whether an error response means that the node lacks this path or method. For all other errors, its API sends a `Status` object. */
function isUnknownCall(statusCode: number, body: string): boolean {
  return [404, 405, 501].includes(statusCode) && !body.trimStart().startsWith('{');
}

/** Parses a line of a watch response; throws if it is an ERROR event. */
function watchedValue(line: string): unknown {
  const value = parseJson(line);
  if (!isRecord(value) || value.type !== 'ERROR' || !isRecord(value.object)) return value;
  throw new PodwrightError('unavailable', String(value.object.message));
}

/** Decodes a streamed response with one value per line. Ends without an error when the signal aborts. */
export async function* readValues<T>(
  response: HttpResponse,
  decode: Decoder<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  try {
    for await (const line of linesOf(response, MAX_ANSWER_BYTES)) if (line !== '') yield decode(watchedValue(line));
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    response.destroy(); // even if the caller leaves the loop early
  }
}
