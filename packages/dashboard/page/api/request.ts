/** Requests to the page's server, which forwards most of them to the API server. */
import { sessionKey } from './session-key.ts';

/** A response with an error status. `reason` and the message are taken from the Kubernetes Status in the body, if there is one. */
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
/** Whether an update was rejected because the object was modified since it was read. */
export const isConflict = (error: unknown): boolean => error instanceof ApiError && error.reason === 'Conflict';
/** Whether a watch cannot be resumed because its resource version is too old (410 Gone). */
export const isExpired = (error: unknown): boolean => error instanceof ApiError && error.code === 410;
/** Whether the page has no valid session (401 Unauthorized). */
export const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.code === 401;

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Maximum number of characters to read from an error response. */
const MAX_ERROR_CHARACTERS = 16_384;

export type Query = Record<string, string | number | boolean | undefined>;

type RequestOptions = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  query?: Query;
  accept?: string;
  /** The body, sent as JSON. */
  body?: unknown;
  /** A body that is already JSON. */
  json?: string;
  signal?: AbortSignal;
};

/** Sends a request. `path` has no leading slash. Throws an ApiError if the response has an error status. */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = 'GET', query = {}, accept = 'application/json', body, signal } = options;
  const json = options.json ?? (body === undefined ? undefined : JSON.stringify(body));
  const parameters = parametersOf(query);
  const response = await fetch(parameters.size === 0 ? path : `${path}?${parameters}`, {
    method,
    headers: {
      Accept: accept,
      'X-Podwright-Key': sessionKey(),
      ...(json !== undefined && { 'Content-Type': 'application/json' }),
    },
    body: json,
    signal,
    credentials: 'same-origin',
    cache: 'no-store',
    redirect: 'error',
  });
  if (response.ok) return response;
  throw await errorOf(response);
}

/** Returns the query as URL parameters, omitting undefined ones. */
export function parametersOf(query: Query): URLSearchParams {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, String(value)] as [string, string]],
  );
  return new URLSearchParams(pairs);
}

/** Sends a request like `send` and decodes the response as JSON. */
export async function call<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return (await (await send(path, options)).json()) as T;
}

const errorOf = async (response: Response): Promise<ApiError> => errorFrom(response.status, await response.text());

/** Returns the ApiError for a response with this status and body. */
export function errorFrom(status: number, body: string): ApiError {
  const text = body.slice(0, MAX_ERROR_CHARACTERS);
  try {
    return new ApiError(status, JSON.parse(text) as { reason?: string; message?: string });
  } catch {
    return new ApiError(status, { message: text });
  }
}
