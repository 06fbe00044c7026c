import { type ErrorCode, PodwrightError } from '@podwright/base';
import { MAX_ERROR_BYTES } from '../limits.ts';
import type { HttpResponse } from './http-client.ts';

/**
 * An unsuccessful response from a registry or token server: the HTTP status, and the delay requested by the server before the next attempt
 * (0 if none).
 */
export class RegistryStatusError extends PodwrightError {
  readonly status: number;
  readonly retryAfterMs: number;

  constructor(response: Pick<HttpResponse, 'status' | 'headers'>, message: string) {
    super(codeOf(response.status), message);
    this.status = response.status;
    this.retryAfterMs = retryAfterMs(response);
  }
}

/**
 * Parses `Retry-After`, a number of seconds or a date (RFC 9110, section 10.2.3). Returns 0 if it is neither or if the date is in the past.
 */
function retryAfterMs({ headers }: Pick<HttpResponse, 'headers'>): number {
  const text = headers['retry-after'] ?? '';
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Math.max(ms || 0, 0);
}

/** How a request identified a manifest: by the name given by the user, or by digest, as indexes do. */
export type ManifestName = 'name' | 'digest';

/** Facts about a rejected request that determine the advice at the end of its error message. */
export type RefusedRequest = {
  /** How the request identified the manifest; `undefined` if the request was not for a manifest. */
  named?: ManifestName;
  hasCredentials?: boolean;
};

/**
 * Creates the error for an unsuccessful response, including the registry's own message (distribution-spec, Error Codes) and advice for the
 * user. Consumes the body.
 */
export async function registryError(
  response: HttpResponse,
  what: string,
  request: RefusedRequest = {},
): Promise<RegistryStatusError> {
  let message = '';
  try {
    message = bodyMessage((await response.document(MAX_ERROR_BYTES, what)).toString('utf8'));
  } catch {
    // the body is unreadable; report only the status
  }
  const host = new URL(response.url).host;
  return new RegistryStatusError(
    response,
    `${what}: ${host} answered ${response.status}${message === '' ? '' : ` (${message})`}${advice(response, request)}`,
  );
}

/** Returns the messages in a JSON error body, from its `errors` or from the top level; '' if there are none. */
export function bodyMessage(body: string): string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return '';
  }
  if (typeof value !== 'object' || value === null) return '';
  const { errors, message, details, error, error_description: description } = value as Record<string, unknown>;
  const listed = Array.isArray(errors) ? errors.slice(0, 5).map(describe) : [];
  const messages = [...listed, ...[description, message, details, error].filter((part) => typeof part === 'string')];
  return [...new Set(messages.filter((text) => text !== ''))].join('; ').slice(0, 1000);
}

function describe(entry: unknown): string {
  if (typeof entry !== 'object' || entry === null) return '';
  const { code, message } = entry as Record<string, unknown>;
  return [code, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
}

function codeOf(status: number): ErrorCode {
  if (status === 401) return 'unauthenticated';
  if (status === 403) return 'permission_denied';
  if (status === 404 || status === 410) return 'not_found';
  return 'unavailable';
}

function advice(response: HttpResponse, { named, hasCredentials }: RefusedRequest): string {
  const { status } = response;
  if (status === 401 && hasCredentials) return '; it does not exist, or these credentials are wrong';
  if (status === 401) return '; it does not exist, or needs credentials';
  if (status === 403) return hasCredentials ? '; these credentials may not pull it' : '; it needs credentials';
  if (status === 404 && named === 'name') return '; are name and tag right?';
  if (status === 404 && named === 'digest') return '; it must serve manifests by digest, not only by tag';
  if (status !== 429) return '';
  const waitMs = retryAfterMs(response);
  const wait = waitMs > 0 ? `in ${Math.ceil(waitMs / 1000)} s` : 'later';
  return `; too many requests: try again ${wait}, or log in for a higher limit`;
}
