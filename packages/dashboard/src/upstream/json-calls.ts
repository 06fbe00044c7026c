import { codeOfHttpStatus, errorCode, isNotFound, isRecord, PodwrightError, withTimeout } from '@podwright/base';
import { CALL_TIMEOUT_MS } from '../limits.ts';
import type { ApiServer } from './api-server.ts';
import { USER_AGENT } from './forwarded-headers.ts';
import { readUpstream } from './send.ts';

/** Requests made to the API server by the dashboard itself, using the same credentials as for forwarded requests. */
export class JsonCalls {
  readonly #api: ApiServer;

  constructor(api: ApiServer) {
    this.#api = api;
  }

  /** Reads a JSON object. Rejects with the error code for the API server's HTTP status, and with the message of its Status. */
  async get(target: string, signal?: AbortSignal): Promise<Record<string, unknown>> {
    return recordOf(target, await this.text(target, signal));
  }

  /** Reads a response as text. Rejects like `get`. */
  async text(target: string, signal?: AbortSignal): Promise<string> {
    return await this.#call({ method: 'GET', target }, signal);
  }

  /** Creates a review, such as a SelfSubjectAccessReview, and returns it with its status set by the API server. */
  async review(target: string, review: object, signal?: AbortSignal): Promise<Record<string, unknown>> {
    return recordOf(target, await this.#call({ method: 'POST', target, body: JSON.stringify(review) }, signal));
  }

  async #call({ method, target, body }: { method: string; target: string; body?: string }, given?: AbortSignal) {
    using signal = withTimeout(given, CALL_TIMEOUT_MS, `${method} ${target}`);
    const headers: Record<string, string> = { accept: 'application/json', 'user-agent': USER_AGENT };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const call = { method, target, headers, body: body === undefined ? undefined : Buffer.from(body) };
    const answer = await readUpstream(this.#api, call, signal);
    const text = answer.body.toString();
    if (answer.status >= 200 && answer.status < 300) return text;
    const code = codeOfHttpStatus(answer.status, 'failed_precondition') ?? 'internal';
    throw new PodwrightError(
      code,
      statusMessage(text) ?? `${method} ${target}: the API server answered ${answer.status}`,
    );
  }
}

/** Resolves to undefined if the API server's response was `permission_denied` or `not_found`, instead of rejecting. */
export function unlessForbidden<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: unknown) => {
    if (errorCode(error) === 'permission_denied' || isNotFound(error)) return undefined;
    throw error;
  });
}

function recordOf(target: string, text: string): Record<string, unknown> {
  const value = parsed(text);
  if (isRecord(value)) return value;
  throw new PodwrightError('unavailable', `${target}: the answer is not a JSON object`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the message of the Status in an API server's response, or undefined if there is none. */
export function statusMessage(text: string): string | undefined {
  const status = parsed(text);
  return isRecord(status) && typeof status.message === 'string' ? status.message : undefined;
}
