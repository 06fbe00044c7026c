import { type ErrorCode, PodwrightError } from '@podwright/base';
import { readWhole } from './http-body.ts';
import type { HttpResponse } from './http-client.ts';

const maxErrorBytes = 64 * 1024;

/**
 * An answer of a registry or a token server that is not a success: the HTTP status, and how long the server asks to
 * wait before the next attempt (0 if it does not).
 */
export class RegistryStatusError extends PodwrightError {
  readonly status: number;
  readonly retryAfterMs: number;

  constructor(response: Pick<HttpResponse, 'status' | 'headers'>, message: string) {
    super(codeOf(response.status), message);
    this.status = response.status;
    const seconds = Number(response.headers['retry-after'] ?? 0);
    this.retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
  }
}

/** The error for a response, with the registry's own words (distribution-spec, Error Codes). Consumes the body. */
export async function registryError(response: HttpResponse, what: string): Promise<RegistryStatusError> {
  let words = '';
  try {
    words = errorWords((await readWhole(response.body, maxErrorBytes, what)).toString('utf8'));
  } catch {
    // the status says enough
  }
  const host = new URL(response.url).host;
  return new RegistryStatusError(
    response,
    `${what}: ${host} answered ${response.status}${words === '' ? '' : ` (${words})`}${hint(response.status)}`,
  );
}

/** The words of a JSON error body: those of `errors`, or a lone message; '' if there are none. */
export function errorWords(body: string): string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return '';
  }
  if (typeof value !== 'object' || value === null) return '';
  const { errors, message, details, error, error_description: description } = value as Record<string, unknown>;
  const listed = Array.isArray(errors) ? errors.slice(0, 5).map(describe) : [];
  const words = [...listed, ...[description, message, details, error].filter((part) => typeof part === 'string')];
  return [...new Set(words.filter((word) => word !== ''))].join('; ').slice(0, 1000);
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

function hint(status: number): string {
  if (status === 401) return '; it does not exist, or needs credentials';
  if (status === 403) return '; these credentials may not pull it';
  if (status === 429) return '; too many requests, try again later or log in';
  return '';
}
