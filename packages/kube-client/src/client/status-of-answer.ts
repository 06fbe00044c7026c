import { isRecord } from '@podwright/base';
import type { ApiStatus } from '../api-status-error.ts';
import { MAX_PLAIN_MESSAGE_LENGTH, MAX_STATUS_MESSAGE_LENGTH } from '../limits.ts';

/** The parts of an unsuccessful response needed to build a Status. */
export type RefusedAnswer = {
  method: string;
  status: number;
  contentType: string | undefined;
  retryAfter: string | undefined;
  text: string;
};

/** Reasons and messages by HTTP status code, for responses without a Status (client-go's NewGenericServerResponse). */
const GENERIC: Record<number, { reason: string; message: string }> = {
  400: { reason: 'BadRequest', message: 'the server rejected our request for an unknown reason' },
  401: { reason: 'Unauthorized', message: 'the server has asked for the client to provide credentials' },
  403: { reason: 'Forbidden', message: 'forbidden' },
  404: { reason: 'NotFound', message: 'the server could not find the requested resource' },
  405: { reason: 'MethodNotAllowed', message: 'the server does not allow this method on the requested resource' },
  406: { reason: 'NotAcceptable', message: 'the server does not answer with JSON' },
  409: { reason: 'Conflict', message: 'the server reported a conflict' },
  410: { reason: 'Gone', message: 'the requested resource is no longer available' },
  413: { reason: 'RequestEntityTooLarge', message: 'the request is too large' },
  415: { reason: 'UnsupportedMediaType', message: 'the server does not accept JSON' },
  422: { reason: 'Invalid', message: 'the server rejected our request due to an error in our request' },
  429: {
    reason: 'TooManyRequests',
    message: 'the server has received too many requests and has asked us to try again',
  },
  503: { reason: 'ServiceUnavailable', message: 'the server is currently unable to handle the request' },
  504: { reason: 'Timeout', message: 'the server was unable to answer in the time allotted' },
};

/**
 * Returns the Status in a response, or builds one from the HTTP status code and the response text, because proxies and failing servers
 * might send anything.
 */
export function statusOfAnswer(answer: RefusedAnswer): ApiStatus {
  const received = parseStatus(answer.text);
  const retryAfterSeconds = secondsOf(answer.retryAfter) ?? received?.retryAfterSeconds;
  const status = received === undefined ? genericStatus(answer) : { ...received, code: answer.status };
  return { ...status, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

/** Decodes a meta/v1 Status from a response or an ERROR event. Returns `undefined` for anything else. */
export function decodeStatus(value: unknown): ApiStatus | undefined {
  if (!isRecord(value) || value.kind !== 'Status') return undefined;
  const details = isRecord(value.details) ? value.details : {};
  const retryAfterSeconds = numberIn(details.retryAfterSeconds);
  return {
    code: numberIn(value.code) ?? 0,
    reason: textIn(value.reason),
    message: textIn(value.message).slice(0, MAX_STATUS_MESSAGE_LENGTH) || 'the server gave no reason',
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(Array.isArray(details.causes) ? { causes: details.causes.slice(0, 100).filter(isRecord) } : {}),
  };
}

/** Parses a `Retry-After` header in whole seconds, the only format that API servers send and client-go accepts. */
export function secondsOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}

function parseStatus(text: string): ApiStatus | undefined {
  try {
    return decodeStatus(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function genericStatus({ method, status, contentType, text }: RefusedAnswer): ApiStatus {
  const isText = contentType === undefined || contentType.startsWith('text/plain');
  const details = isText ? text.slice(0, MAX_PLAIN_MESSAGE_LENGTH).trim() : '';
  const generic = GENERIC[status] ?? {
    reason: status >= 500 ? 'InternalError' : '',
    message: `the server answered with the HTTP status ${status}`,
  };
  const reason = status === 409 && method === 'POST' ? 'AlreadyExists' : generic.reason;
  return { code: status, reason, message: details === '' ? generic.message : `${generic.message}: ${details}` };
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}
