import type { ServerResponse } from 'node:http';
import { type ErrorCode, errorCode, shownError } from '@podwright/base';

const HTTP_STATUS: Partial<Record<ErrorCode, number>> = {
  invalid_argument: 400,
  permission_denied: 403,
  not_found: 404,
  already_exists: 409,
  failed_precondition: 409,
  unimplemented: 501,
  unavailable: 503,
  deadline_exceeded: 504,
};

/** The reasons in a Status that Kubernetes clients use to distinguish errors (apimachinery, StatusReason). */
const REASONS: Partial<Record<ErrorCode, string>> = {
  invalid_argument: 'BadRequest',
  permission_denied: 'Forbidden',
  not_found: 'NotFound',
  already_exists: 'AlreadyExists',
  failed_precondition: 'Conflict',
  unimplemented: 'NotImplemented',
  unavailable: 'ServiceUnavailable',
  deadline_exceeded: 'Timeout',
};

/** Returns the meta/v1 Status for an error. */
export function statusObject(error: unknown) {
  const code = HTTP_STATUS[errorCode(error)] ?? 500;
  return {
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    message: shownError(error),
    reason: REASONS[errorCode(error)] ?? 'InternalError',
    code,
  };
}

/** Sends an error response, or aborts the response if its headers have already been sent. */
export function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  const status = statusObject(error);
  response.writeHead(status.code, { 'content-type': 'application/json' }).end(JSON.stringify(status));
}
