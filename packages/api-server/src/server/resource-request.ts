import type { AddAnnotation, RequestContext } from '@podwright/api-machinery';
import { qualifiedNameProblems } from '@podwright/kube-kinds';
import type { GroupVersionKind } from '@podwright/kube-schema';
import { callerOf } from '../authorization/known-users.ts';
import { includeObjectOf } from '../wire/encode-table.ts';
import { managerOf } from '../wire/field-manager.ts';
import { headerOf, type ObservedBodies } from '../wire/http-exchange.ts';
import type { OutputFormat } from '../wire/negotiation.ts';
import type { ResourceEncoding } from '../wire/response-content.ts';
import { attributesOf, authorize } from './authorize-request.ts';
import type { ResourceRequest } from './server-parts.ts';

/** Returns the namespace of the request's objects, or '' for cluster-scoped objects (including Namespaces). */
export const namespaceOf = ({ info, resource }: ResourceRequest): string => (resource.namespaced ? info.namespace : '');

/** Returns the namespace and name of the object addressed by the URL. */
export const placeOf = (request: ResourceRequest): { namespace: string; name: string } => ({
  namespace: namespaceOf(request),
  name: request.info.name,
});

/** Returns the kind of the object in the request and in the response. */
export const kindOf = ({ info, resource }: Pick<ResourceRequest, 'info' | 'resource'>): GroupVersionKind =>
  info.subresource === '' ? resource : resource.subresources![info.subresource]!;

/** Returns the response encoding. Throws 400 if `includeObject` is invalid. */
export function encodingOf(request: ResourceRequest, format: OutputFormat): ResourceEncoding {
  const { served, parts, exchange } = request;
  return {
    format,
    schema: parts.schema,
    resource: kindOf(request),
    toStored: (object) => served.toStored(object),
    includeObject: format.convertTo?.kind === 'Table' ? includeObjectOf(exchange.query) : 'Metadata',
    nowMs: parts.now(),
    turn: turnOf(request),
  };
}

/** Returns a function that waits until the next slice of a long computation for the request's user may run. */
export const turnOf =
  ({ parts, user }: Pick<ResourceRequest, 'parts' | 'user'>) =>
  (): Promise<void> =>
    parts.sliceTurns.next(callerOf(user.username));

/** Returns the write options in the query as the client sent them, without defaults. */
function sentOptions(query: URLSearchParams): object {
  const [dryRun, fieldManager, fieldValidation] = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) =>
    query.getAll(name),
  );
  return {
    ...(dryRun!.length > 0 && { dryRun }),
    ...(fieldManager![0] && { fieldManager: fieldManager![0] }),
    ...(fieldValidation![0] && { fieldValidation: fieldValidation![0] }),
  };
}

/** Maximum age of a request's authorization. If it is older, the request is authorized again before a write. */
const MAX_AUTHORIZATION_AGE_MS = 100;

/**
 * Authorizes the request again if that was more than `MAX_AUTHORIZATION_AGE_MS` ago, because receiving its body or admission can take long.
 * Throws 403 if the user may no longer make the request.
 */
export function authorizeAgain({ exchange, info, user, parts }: ResourceRequest): void {
  const { authorizedMs, query } = exchange;
  if (authorizedMs === undefined || performance.now() - authorizedMs <= MAX_AUTHORIZATION_AGE_MS) return;
  authorize(parts.authorizer, attributesOf(info, user, query));
  exchange.authorizedMs = performance.now();
}

/** Returns the request context for the registry. `sent`: the options that the client sent. Default: those in the query. */
export function contextOf(
  request: ResourceRequest,
  { dryRun, fieldManager = '' }: { dryRun: boolean; fieldManager?: string },
  sent: object = sentOptions(request.exchange.query),
): RequestContext {
  const { exchange, writer, user, info, parts } = request;
  const { subresource } = info;
  return {
    user,
    nowMs: parts.now(),
    dryRun,
    fieldManager: managerOf(fieldManager, headerOf(exchange.request, 'user-agent')),
    warn: writer.warnings.add,
    ...(subresource !== '' && { subresource }),
    authorizeCreate: async () => {
      authorize(parts.authorizer, { ...attributesOf(info, user, exchange.query), verb: 'create' });
    },
    authorizeAgain: () => authorizeAgain(request),
    signal: exchange.signal,
    options: { ...sent },
    ...(exchange.bodies && { annotate: annotator(exchange.bodies) }),
  };
}

/**
 * Returns a function that adds annotations to the audit event. As in upstream, the first value of a key wins and invalid keys are ignored.
 */
const annotator =
  (bodies: ObservedBodies): AddAnnotation =>
  (key, value, level) => {
    bodies.annotations ??= new Map();
    if (qualifiedNameProblems(key).length === 0 && !bodies.annotations.has(key))
      bodies.annotations.set(key, { value, level });
  };
