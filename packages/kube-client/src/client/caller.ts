import { gatherBytes, PodwrightError, raceAbort, sleep, withTimeout, wrapError } from '@podwright/base';
import { ApiStatusError } from '../api-status-error.ts';
import type { CallOptions } from '../kube-client.ts';
import { CALL_TIMEOUT_MS, LOST_CONNECTION_REPEAT_SECONDS, MAX_REPEATS, MAX_STATUS_BYTES } from '../limits.ts';
import { isConnectionLost, lostConnection } from '../transport/connection-error.ts';
import type { HttpAnswer, HttpRequest } from '../transport/http-exchange.ts';
import type { Call } from './calls.ts';
import { secondsToRepeat, waitUnlessLate } from './repeats.ts';
import { secondsOf, statusOfAnswer } from './status-of-answer.ts';

/** Provides credentials for requests. */
export type Authorization = {
  /** Returns the value of the `Authorization` header, if any. */
  header(signal: AbortSignal): Promise<string | undefined> | string | undefined;
  /** Called after a 401 response to a request with this header. Returns true if a retry would send different credentials. */
  refused?(header: string | undefined): Promise<boolean>;
};

export type CallerOptions = {
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /** The part of the server's URL before `/api`. */
  prefix: string;
  userAgent: string;
  authorization: Authorization;
};

/** Sends requests with common headers, and retries them like client-go. */
export class Caller {
  readonly #options: CallerOptions;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  /** Returns the entire response body. Rejects if it exceeds `maxBytes`. */
  async text(call: Call, maxBytes: number, options: CallOptions = {}): Promise<string> {
    using signal = withTimeout(options.signal, options.timeoutMs ?? CALL_TIMEOUT_MS, call.what);
    try {
      for (let repeats = 0; ; repeats++) {
        const text = await this.#tryText(call, maxBytes, { repeats, signal });
        if (text !== undefined) return text;
      }
    } catch (error) {
      throw named(call.what, error, signal);
    }
  }

  /** Returns a successful response. The caller must read its body. */
  async open(call: Call, signal: AbortSignal): Promise<HttpAnswer> {
    try {
      for (let repeats = 0; ; repeats++) {
        const answer = await this.#accepted(call, { repeats, signal, isLong: true });
        if (answer !== undefined) return answer;
      }
    } catch (error) {
      throw named(call.what, error, signal);
    }
  }

  /** Returns the response body; `undefined` if the caller should retry immediately. */
  async #tryText(call: Call, maxBytes: number, attempt: Attempt): Promise<string | undefined> {
    const answer = await this.#accepted(call, attempt);
    if (answer === undefined) return undefined;
    try {
      return await textOf(call.what, answer, maxBytes);
    } catch (error) {
      if (attempt.signal.aborted) throw attempt.signal.reason;
      if (!mayRepeat(call, error, attempt.repeats)) throw error;
      await sleep(LOST_CONNECTION_REPEAT_SECONDS * 1000, attempt.signal);
      return undefined;
    }
  }

  async #accepted(call: Call, { repeats, signal, isLong }: Attempt): Promise<HttpAnswer | undefined> {
    let answer: HttpAnswer;
    let request: HttpRequest;
    try {
      request = await this.#request(call, signal);
      answer = await this.#options.send({ ...request, isLong }, signal);
    } catch (error) {
      if (signal.aborted || !mayRepeat(call, error, repeats)) throw error;
      await sleep(LOST_CONNECTION_REPEAT_SECONDS * 1000, signal);
      return undefined;
    }
    if (answer.status >= 200 && answer.status < 300) return answer;
    const error = await refusalOf(call, answer, request);
    if (answer.status === 401 && repeats === 0 && (await this.#hasNewCredentials(request, signal))) return undefined;
    const seconds = secondsToRepeat(
      { code: answer.status, retryAfterSeconds: secondsOf(answer.header('retry-after')) },
      repeats,
    );
    if (seconds === undefined) throw error;
    await waitUnlessLate(seconds, signal, error);
    return undefined;
  }

  async #hasNewCredentials({ headers }: HttpRequest, signal: AbortSignal): Promise<boolean> {
    const asked = this.#options.authorization.refused?.(headers.authorization) ?? Promise.resolve(false);
    return raceAbort(asked, signal).catch(() => false);
  }

  async #request(
    { method, path, body, contentType = 'application/json', accept = 'application/json' }: Call,
    signal: AbortSignal,
  ): Promise<HttpRequest> {
    const { prefix, userAgent, authorization } = this.#options;
    const given = await raceAbort(Promise.resolve(authorization.header(signal)), signal);
    const headers: Record<string, string> = { accept, 'user-agent': userAgent };
    if (given !== undefined) headers.authorization = given;
    if (body === undefined) return { method, path: `${prefix}${path}`, headers };
    headers['content-type'] = contentType;
    return { method, path: `${prefix}${path}`, headers, body: JSON.stringify(body) };
  }
}

type Attempt = { repeats: number; signal: AbortSignal; isLong?: true };

/**
 * Whether to retry after the connection was lost. Only GET requests are retried, because the server might have processed any other request
 * already.
 */
function mayRepeat({ method }: Call, error: unknown, repeats: number): boolean {
  return method === 'GET' && repeats < MAX_REPEATS && isConnectionLost(error);
}

async function refusalOf(call: Call, answer: HttpAnswer, { headers }: HttpRequest): Promise<ApiStatusError> {
  const text = withoutCredential(await textOf(call.what, answer, MAX_STATUS_BYTES).catch(() => ''), headers);
  const status = statusOfAnswer({
    method: call.method,
    status: answer.status,
    contentType: answer.header('content-type'),
    retryAfter: answer.header('retry-after'),
    text,
  });
  return new ApiStatusError(call.what, status);
}

/** Redacts the credential in a server's response text, which might end up in logs. */
function withoutCredential(text: string, { authorization = '' }: Record<string, string>): string {
  const credential = authorization.split(' ')[1] ?? '';
  return credential === '' ? text : text.replaceAll(credential, '…');
}

async function textOf(what: string, { body, isWhole }: HttpAnswer, maxBytes: number): Promise<string> {
  const tooLong = () =>
    new PodwrightError('resource_exhausted', `${what}: the response has more than ${maxBytes} bytes`);
  try {
    const bytes = await gatherBytes(body, maxBytes, tooLong);
    if (!isWhole()) throw lostConnection('the response');
    return bytes.toString('utf8');
  } catch (error) {
    throw error instanceof PodwrightError ? error : wrapError(what, error, 'unavailable');
  } finally {
    body.destroy();
  }
}

function named(what: string, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted && error === signal.reason) return error;
  if (error instanceof ApiStatusError || (error instanceof Error && error.message.startsWith(what))) return error;
  return wrapError(what, error);
}
