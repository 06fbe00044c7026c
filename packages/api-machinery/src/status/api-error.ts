/** API errors: a meta/v1 Status with status `Failure` (apimachinery, api/errors). */
import type { FieldError } from '@podwright/kube-kinds';
import type { GroupVersionKind, Resource } from '@podwright/kube-schema';

export type StatusCause = { reason?: string; message?: string; field?: string };

export type StatusDetails = {
  name?: string;
  group?: string;
  /** The kind or the plural resource name of the object, depending on the error. */
  kind?: string;
  uid?: string;
  causes?: readonly StatusCause[];
  /** How long clients should wait before retrying. */
  retryAfterSeconds?: number;
};

export type FailureStatus = {
  kind: 'Status';
  apiVersion: 'v1';
  /** `continue`: a new token that continues a list with the latest state after its token expired. */
  metadata: { continue?: string };
  status: 'Failure';
  message: string;
  reason?: string;
  details?: StatusDetails;
  /** The HTTP status code of the response. */
  code: number;
};

/** Identifies a resource in error messages. */
export type GroupResource = Pick<Resource, 'group' | 'plural'>;

/** An error that is returned to the client as a Status with the same message. */
export class ApiError extends Error {
  readonly status: FailureStatus;

  /** `reason`: the reason in the Status; '' if it is unknown. */
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

/** Returns the name of a resource in messages and in the store, such as `pods` or `leases.coordination.k8s.io`. */
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

/** Returns the error for a URL path that the server does not serve. */
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

/** Message of the error for an optimistic locking conflict, as in upstream. */
export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

/** Maximum number of errors in a response. A malicious object can have tens of thousands. */
const MAX_CAUSES = 100;

export function invalid(
  { group, kind }: Pick<GroupVersionKind, 'group' | 'kind'>,
  name: string,
  errors: readonly FieldError[],
): ApiError {
  const causes = errors.slice(0, MAX_CAUSES);
  const texts = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  if (errors.length > MAX_CAUSES) texts.push(`and ${errors.length - MAX_CAUSES} more errors`);
  const listed = texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
  return new ApiError(422, 'Invalid', {
    message: `${group === '' ? kind : `${kind}.${group}`} ${JSON.stringify(name)} is invalid: ${listed}`,
    details: {
      ...(name === '' ? {} : { name }),
      ...(group === '' ? {} : { group }),
      ...(kind === '' ? {} : { kind }),
      causes,
    },
  });
}

export const badRequest = (message: string): ApiError => new ApiError(400, 'BadRequest', { message });

export const unauthorized = (): ApiError => new ApiError(401, 'Unauthorized', { message: 'Unauthorized' });

/** `resource` is `undefined` for non-resource requests. */
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

/** The error if the Accept header contains none of the path's media types, worded as by upstream's URL router. */
export const noRepresentation = (mediaTypes: readonly string[]): ApiError =>
  new ApiError(406, 'NotAcceptable', {
    message: `406: Not Acceptable\n\nAvailable representations: ${mediaTypes.join(', ')}`,
    details: {},
  });

/** The error for a client that accepts none of the media types that the server can produce. */
export const notAcceptable = (mediaTypes: readonly string[]): ApiError =>
  new ApiError(406, 'NotAcceptable', {
    message: `only the following media types are accepted: ${mediaTypes.join(', ')}`,
  });

export const unsupportedMediaType = (mediaTypes: readonly string[]): ApiError =>
  new ApiError(415, 'UnsupportedMediaType', {
    message: `the body of the request was in an unknown format - accepted media types include: ${mediaTypes.join(', ')}`,
  });

/** The error if the path does not accept the body's media type, worded as by upstream's URL router. */
export const unroutedMediaType = (): ApiError =>
  new ApiError(415, 'UnsupportedMediaType', { message: '415: Unsupported Media Type', details: {} });

/** The error for a request body that is too large. `limit`: maximum size in bytes. */
export const tooLarge = (limit: number): ApiError =>
  new ApiError(413, 'RequestEntityTooLarge', { message: `Request entity too large: limit is ${limit}` });

/** Returns the error for a revision that is no longer in the history. */
export const expired = (message: string): ApiError => new ApiError(410, 'Expired', { message });

export const tooManyRequests = (message: string, retryAfterSeconds: number): ApiError =>
  new ApiError(429, 'TooManyRequests', { message, details: { retryAfterSeconds } });

export const internalError = (message: string): ApiError =>
  new ApiError(500, 'InternalError', {
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });

/** Formats an object's `apiVersion` and kind like Go's GroupVersionKind. */
export const formatKind = ({ group, version, kind }: GroupVersionKind): string => `${group}/${version}, Kind=${kind}`;
