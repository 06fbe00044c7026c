import type { ServerResponse } from 'node:http';
import { type ErrorCode, errorCode, PodwrightError, shownError } from '@podwright/base';
import { securityHeaders } from './access/security-headers.ts';

/** The `code` and `reason` of the Kubernetes Status for each error code. */
const STATUSES: Partial<Record<ErrorCode, [code: number, reason: string]>> = {
  invalid_argument: [400, 'BadRequest'],
  unauthenticated: [401, 'Unauthorized'],
  permission_denied: [403, 'Forbidden'],
  not_found: [404, 'NotFound'],
  already_exists: [409, 'AlreadyExists'],
  failed_precondition: [409, 'Conflict'],
  resource_exhausted: [429, 'TooManyRequests'],
  unavailable: [503, 'ServiceUnavailable'],
  deadline_exceeded: [504, 'Timeout'],
};

/** Converts an error to a Status (meta/v1). */
export function statusOf(error: unknown) {
  const [code, reason] = STATUSES[errorCode(error)] ?? [500, 'InternalError'];
  const metadata = {};
  return { apiVersion: 'v1', kind: 'Status', metadata, status: 'Failure', message: shownError(error), reason, code };
}

/** Sends a JSON response with the security headers. */
export function sendJson(response: ServerResponse, value: unknown, { code = 200, headers = {} } = {}): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(code, {
    ...securityHeaders('data'),
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'content-length': body.length,
    ...headers,
  });
  response.end(body);
}

/** Sends an error as a Status, or closes the connection if part of the response has already been sent. */
export function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  const status = statusOf(error);
  sendJson(response, status, { code: status.code });
}

/** Returns the error for a request that is rejected whatever the user's permissions. */
export const refusal = (message: string) => new PodwrightError('permission_denied', message);
