/** Errors in the API's form: a meta/v1 Status with the status Failure (apimachinery, api/errors). */
import type { FieldError } from '@podwright/kube-kinds';
import { apiVersionOf, type GroupVersionKind, type Resource } from '@podwright/kube-schema';

export type StatusCause = { reason?: string; message?: string; field?: string };

export type StatusDetails = {
  name?: string;
  group?: string;
  /** The kind, or the plural name of the resource, depending on the error. */
  kind?: string;
  uid?: string;
  causes?: readonly StatusCause[];
  /** Clients wait this time before they repeat the request. */
  retryAfterSeconds?: number;
};

export type FailureStatus = {
  kind: 'Status';
  apiVersion: 'v1';
  /** `continue`: a token with which a list continues in the newest state, although its first token has expired. */
  metadata: { continue?: string };
  status: 'Failure';
  message: string;
  reason?: string;
  details?: StatusDetails;
  /** The HTTP status code. */
  code: number;
};

/** Names a resource in errors. */
export type GroupResource = Pick<Resource, 'group' | 'plural'>;

/** An error with which the server answers a request. Its message is the status's message. */
export class ApiError extends Error {
  readonly status: FailureStatus;

  /** `reason` is '' for an unknown reason. */
  constructor(code: number, reason: string, { message, details }: { message: string; details?: StatusDetails }) {
    super(message);
    this.name = 'ApiError';
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason === '' ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

/** The name of a resource in messages and in the store: `pods`, or `leases.coordination.k8s.io`. */
export const groupResource = ({ group, plural }: GroupResource): string =>
  group === '' ? plural : `${plural}.${group}`;

const resourceDetails = ({ group, plural }: GroupResource, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  kind: plural,
});

export function notFound(resource: GroupResource, name: string): ApiError {
  const message = `${groupResource(resource)} "${name}" not found`;
  return new ApiError(404, 'NotFound', { message, details: resourceDetails(resource, name) });
}

/** The error for a URL path that the server does not serve. */
export const pageNotFound = (): ApiError =>
  new ApiError(404, 'NotFound', { message: 'the server could not find the requested resource', details: {} });

export function alreadyExists(resource: GroupResource, name: string): ApiError {
  const message = `${groupResource(resource)} "${name}" already exists`;
  return new ApiError(409, 'AlreadyExists', { message, details: resourceDetails(resource, name) });
}

export function conflict(resource: GroupResource, name: string, cause: string): ApiError {
  const message = `Operation cannot be fulfilled on ${groupResource(resource)} "${name}": ${cause}`;
  return new ApiError(409, 'Conflict', { message, details: resourceDetails(resource, name) });
}

/** The cause of a conflict by optimistic locking. */
export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

export function invalid(
  { group, kind }: Pick<GroupVersionKind, 'group' | 'kind'>,
  name: string,
  causes: readonly FieldError[],
): ApiError {
  const texts = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const listed = texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
  return new ApiError(422, 'Invalid', {
    message: `${group === '' ? kind : `${kind}.${group}`} ${JSON.stringify(name)} is invalid: ${listed}`,
    details: { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind, causes },
  });
}

export const badRequest = (message: string): ApiError => new ApiError(400, 'BadRequest', { message });

export const unauthorized = (): ApiError => new ApiError(401, 'Unauthorized', { message: 'Unauthorized' });

/** `resource` is undefined for a request that is not for objects. */
export function forbidden(resource: GroupResource | undefined, name: string, cause: string): ApiError {
  if (resource === undefined) return new ApiError(403, 'Forbidden', { message: `forbidden: ${cause}`, details: {} });
  const subject = name === '' ? groupResource(resource) : `${groupResource(resource)} "${name}"`;
  const message = `${subject} is forbidden: ${cause}`;
  return new ApiError(403, 'Forbidden', { message, details: resourceDetails(resource, name) });
}

export const methodNotAllowed = (): ApiError =>
  new ApiError(405, 'MethodNotAllowed', {
    message: 'the server does not allow this method on the requested resource',
    details: {},
  });

/** The client accepts none of the media types that the server can produce. */
export const notAcceptable = (mediaTypes: readonly string[]): ApiError =>
  new ApiError(406, 'NotAcceptable', {
    message: `only the following media types are accepted: ${mediaTypes.join(', ')}`,
  });

export const unsupportedMediaType = (mediaTypes: readonly string[]): ApiError =>
  new ApiError(415, 'UnsupportedMediaType', {
    message: `the body of the request was in an unknown format - accepted media types include: ${mediaTypes.join(', ')}`,
  });

/** `limit` is in bytes. */
export const tooLarge = (limit: number): ApiError =>
  new ApiError(413, 'RequestEntityTooLarge', { message: `Request entity too large: limit is ${limit}` });

/** The requested revision is no longer in the history. */
export const expired = (message: string): ApiError => new ApiError(410, 'Expired', { message });

export const tooManyRequests = (message: string, retryAfterSeconds: number): ApiError =>
  new ApiError(429, 'TooManyRequests', { message, details: { retryAfterSeconds } });

export const internalError = (message: string): ApiError =>
  new ApiError(500, 'InternalError', {
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });

/** The `apiVersion` and kind of an object in a message, as Go prints a GroupVersionKind. */
export const formatKind = (kind: GroupVersionKind): string => `${apiVersionOf(kind)}, Kind=${kind.kind}`;
