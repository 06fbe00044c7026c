/** Errors in the API's form: meta/v1 Status with status Failure. */
import type { ResourceKind } from './resource-kinds.ts';

export type StatusCause = { reason?: string; message?: string; field?: string };

export type StatusDetails = {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
};

export type FailureStatus = {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: Record<string, never>;
  status: 'Failure';
  message: string;
  reason?: string;
  details?: StatusDetails;
  code: number;
};

export class ApiError extends Error {
  readonly status: FailureStatus;

  constructor(code: number, reason: string, rest: { message: string; details?: StatusDetails }) {
    super(rest.message);
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: rest.message,
      ...(reason === '' ? {} : { reason }),
      ...(rest.details === undefined ? {} : { details: rest.details }),
      code,
    };
  }
}

/** The name of a resource in messages: `pods`, or `leases.coordination.k8s.io`. */
export const qualified = ({ group, plural }: ResourceKind): string => (group === '' ? plural : `${plural}.${group}`);

/** Details have the plural as `kind`. */
const detailsOf = ({ group, plural }: ResourceKind, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  kind: plural,
});

export function notFound(kind: ResourceKind, name: string): ApiError {
  const message = `${qualified(kind)} "${name}" not found`;
  return new ApiError(404, 'NotFound', { message, details: detailsOf(kind, name) });
}

export function alreadyExists(kind: ResourceKind, name: string): ApiError {
  const message = `${qualified(kind)} "${name}" already exists`;
  return new ApiError(409, 'AlreadyExists', { message, details: detailsOf(kind, name) });
}

export function conflict(kind: ResourceKind, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${qualified(kind)} "${name}": ${why}`;
  return new ApiError(409, 'Conflict', { message, details: detailsOf(kind, name) });
}

export const CHANGED_MEANWHILE =
  'the object has been modified; please apply your changes to the latest version and try again';

export function invalid(kind: { group: string; kind: string }, name: string, causes: StatusCause[]): ApiError {
  const listed = causes.map(({ field, message }) => `${field}: ${message}`);
  const text = listed.length === 1 ? listed[0]! : `[${listed.join(', ')}]`;
  const named = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  return new ApiError(422, 'Invalid', {
    message: `${named} "${name}" is invalid: ${text}`,
    details: {
      ...(name === '' ? {} : { name }),
      ...(kind.group === '' ? {} : { group: kind.group }),
      kind: kind.kind,
      causes,
    },
  });
}

export const badRequest = (message: string): ApiError => new ApiError(400, 'BadRequest', { message });

export const unauthorized = (): ApiError => new ApiError(401, 'Unauthorized', { message: 'Unauthorized' });

export function forbidden(kind: ResourceKind | undefined, name: string, why: string): ApiError {
  const what = kind === undefined ? '' : `${qualified(kind)}${name === '' ? '' : ` "${name}"`} is `;
  return new ApiError(403, 'Forbidden', {
    message: `${what}forbidden: ${why}`,
    ...(kind === undefined ? {} : { details: detailsOf(kind, name) }),
  });
}

export const methodNotAllowed = (): ApiError =>
  new ApiError(405, 'MethodNotAllowed', { message: 'the server does not allow this method on the requested resource' });

export const tooLarge = (limit: number): ApiError =>
  new ApiError(413, 'RequestEntityTooLarge', {
    message: `Request entity too large: limit is ${limit}`,
  });

export const unsupportedMediaType = (given: string, accepted: string[]): ApiError =>
  new ApiError(415, 'UnsupportedMediaType', {
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')} (got ${given})`,
  });

export const expired = (message: string): ApiError => new ApiError(410, 'Expired', { message });

export function tooManyRequests(message: string, retryAfterSeconds: number): ApiError {
  return new ApiError(429, 'TooManyRequests', { message, details: { retryAfterSeconds } });
}

export const internalError = (message: string): ApiError =>
  new ApiError(500, 'InternalError', { message: `Internal error occurred: ${message}` });
