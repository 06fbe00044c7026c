/** Calls of the page's server, which forwards them to the API server. */
import { sessionKey } from './session-key.ts';

/** An answer that is not a success, with the fields of a Kubernetes Status if it is one. */
export class ApiError extends Error {
  readonly code: number;
  readonly reason: string;

  constructor(code: number, { reason = '', message = '' }: { reason?: string; message?: string }) {
    super(message || `the server answered ${code}`);
    this.name = 'ApiError';
    this.code = code;
    this.reason = reason;
  }
}

export const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.code === 403;
export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.code === 404;
/** The object has been changed since it was read. */
export const isConflict = (error: unknown): boolean => error instanceof ApiError && error.reason === 'Conflict';
/** A watch cannot be resumed from this resource version. */
export const isExpired = (error: unknown): boolean => error instanceof ApiError && error.code === 410;
/** The session of the page has ended. */
export const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.code === 401;

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Of a body that is no success. */
const MAX_ERROR_CHARACTERS = 16_384;

type RequestOptions = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  query?: Record<string, string | number | boolean | undefined>;
  accept?: string;
  body?: unknown;
  contentType?: string;
  signal?: AbortSignal;
};

/** Sends a request to a path without a leading slash. Throws an ApiError unless the answer is a success. */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = 'GET', query = {}, accept = 'application/json', body, contentType, signal } = options;
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, String(value)] as [string, string]],
  );
  const search = pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
  const response = await fetch(path + search, {
    method,
    headers: {
      Accept: accept,
      'X-Podwright-Key': sessionKey(),
      ...(body !== undefined && { 'Content-Type': contentType ?? 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
    credentials: 'same-origin',
    cache: 'no-store',
    redirect: 'error',
  });
  if (response.ok) return response;
  throw await errorOf(response);
}

/** Like `send`, and decodes the answer as JSON. */
export async function call<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return (await (await send(path, options)).json()) as T;
}

const errorOf = async (response: Response): Promise<ApiError> => errorFrom(response.status, await response.text());

/** The error of an answer with this status and body. */
export function errorFrom(status: number, body: string): ApiError {
  const text = body.slice(0, MAX_ERROR_CHARACTERS);
  try {
    return new ApiError(status, JSON.parse(text) as { reason?: string; message?: string });
  } catch {
    return new ApiError(status, { message: text });
  }
}
