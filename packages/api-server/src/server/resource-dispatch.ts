import { deprecationWarning, unknownPath } from '@podwright/api-documents';
import { ApiError, forbidden, groupResource, methodNotAllowed, notFound, pageNotFound } from '@podwright/api-machinery';
import type { Resource } from '@podwright/kube-schema';
import { checkAccept } from '../wire/negotiation.ts';
import { checkPathSegment } from '../wire/path-segment.ts';
import { respondComputed } from './computed-requests.ts';
import { deleteCollection, deleteOne } from './delete-requests.ts';
import { sendPath } from './path-request.ts';
import { getOne, listMany, watchMany } from './read-requests.ts';
import { CONNECTING, PROXY, type RequestInfo } from './request-info.ts';
import type { AuthorizedRequest, ServerParts, SubresourceHandler } from './server-parts.ts';
import { createOne, patchOne, updateOne } from './write-requests.ts';

const HANDLERS: ReadonlyMap<string, SubresourceHandler> = new Map([
  ['get', getOne],
  ['list', listMany],
  ['watch', watchMany],
  ['create', createOne],
  ['update', updateOne],
  ['patch', patchOne],
  ['delete', deleteOne],
  ['deletecollection', deleteCollection],
]);

/** Verbs whose paths contain no object name. */
const COLLECTION_VERBS = ['create', 'list', 'watch', 'deletecollection'];

/** HTTP methods that upstream supports only for requests forwarded to backends, although HEAD is authorized like GET. */
const PROXIED_METHODS = ['HEAD', 'OPTIONS'];

/** Responds to an authorized request for API objects. Throws `ApiError`. */
export async function dispatch(request: AuthorizedRequest): Promise<void> {
  const { info, writer, parts } = request;
  const computed = parts.computed?.find(({ resource }) => isOf(info, resource));
  if (computed !== undefined && !isReplaced(request)) return respondComputed(request, computed);
  const resource = parts.schema.resource(info.apiGroup, info.apiVersion, info.resource);
  const served = resource && parts.servedResource(resource);
  if (resource === undefined || served === undefined)
    return sendPath(writer, parts.documents.unknownResource(info.apiGroup));
  checkPathSegment(info.name, 'Name');
  checkPathSegment(info.namespace, 'Namespace');
  const isProxied = PROXIED_METHODS.includes(request.exchange.request.method ?? '');
  const handler = resource.isCustom
    ? customHandler(info, resource, parts)
    : handlerOf({ info, resource, isProxied }, parts);
  if (handler === undefined) return sendPath(writer, unknownPath());
  if (!CONNECTING.includes(info.subresource))
    checkAccept(request.exchange, { isList: ['list', 'watch'].includes(info.verb) });
  if (resource.isCustom && info.subresource !== 'scale') request.exchange.isCustom = true;
  const custom = resource.isCustom ? parts.schema.kind(resource)?.custom : undefined;
  const warning = custom === undefined ? deprecationWarning(resource) : custom.deprecationWarning;
  if (warning !== undefined) writer.warnings.add(warning);
  return handler({ ...request, resource, served });
}

/**
 * Whether a computed resource is replaced by an extension API server, which is the case if such a server serves any version of its group.
 */
const isReplaced = ({ info, exchange, parts }: AuthorizedRequest): boolean =>
  exchange.value === undefined && parts.extensions?.hasGroup(info.apiGroup) === true; // callers in this process use this server's

const isOf = ({ apiGroup, apiVersion, resource }: RequestInfo, { group, version, plural }: Resource): boolean =>
  apiGroup === group && apiVersion === version && resource === plural;

/**
 * Returns the handler for a request for a custom resource. Unlike those of built-in resources (`handlerOf`), these paths are not routed
 * individually. Returns `undefined` if the path does not exist.
 */
function customHandler(info: RequestInfo, resource: Resource, parts: ServerParts): SubresourceHandler | undefined {
  const { verb, name, subresource, isBelowNamespace } = info;
  const readsAll = ['list', 'watch'].includes(verb) && info.parts.length === 1;
  if (resource.namespaced !== isBelowNamespace && !(resource.namespaced && readsAll)) return undefined;
  if (subresource !== '' && !Object.hasOwn(resource.subresources ?? {}, subresource)) throw notFound(resource, name);
  const verbs = subresource === '' ? [...HANDLERS.keys()] : ['get', 'update', 'patch'];
  const isCollection = COLLECTION_VERBS.includes(verb);
  if (!verbs.includes(verb) || (isCollection && verb !== 'watch') !== (info.parts.length === 1 && verb !== 'watch'))
    throw verbNotAllowed(resource, verb);
  if (verb === 'create' && !resource.verbs.includes('create')) throw terminating(resource);
  return subresource === 'scale' ? parts.subresources.get('*/scale') : HANDLERS.get(verb);
}

const verbNotAllowed = (resource: Resource, verb: string): ApiError =>
  new ApiError(405, 'MethodNotAllowed', {
    message: `${verb} is not supported on resources of kind "${groupResource(resource)}"`,
    details: { group: resource.group, kind: resource.plural },
  });

const terminating = (resource: Resource): ApiError =>
  forbidden(resource, '', 'create not allowed while custom resource definition is terminating');

type Target = {
  info: RequestInfo;
  resource: Resource;
  /** Whether the request's method is only supported by backends. */
  isProxied: boolean;
};

/** Returns the handler for a request. Throws 404 if the path does not exist, and 405 if it does not support the method. */
function handlerOf({ info, resource, isProxied }: Target, { subresources }: ServerParts): SubresourceHandler {
  const { verb, subresource, parts } = info;
  checkScope(info, resource);
  if (subresource !== '') return subresourceHandler({ info, resource, isProxied }, subresources);
  if (isProxied) throw methodNotAllowed();
  const handler = (verb === 'create' && subresources.get(groupResource(resource))) || HANDLERS.get(verb);
  const isOneOrMany = verb === 'watch' && info.hasVerbInPath;
  const fits = isOneOrMany || COLLECTION_VERBS.includes(verb) === (parts.length === 1);
  if (handler === undefined || !resource.verbs.includes(verb) || !fits) throw methodNotAllowed();
  return handler;
}

function subresourceHandler(
  { info: { subresource, verb, parts }, resource, isProxied }: Target,
  subresources: ServerParts['subresources'],
): SubresourceHandler {
  const { subresources: known = {} } = resource;
  const kind = Object.hasOwn(known, subresource) ? known[subresource] : undefined;
  if (kind === undefined) throw pageNotFound();
  const special = subresources.get(`${groupResource(resource)}/${subresource}`);
  const isOfObject = kind.kind === resource.kind && subresource !== 'log' && parts.length <= 3;
  if (special === undefined && !isOfObject) throw pageNotFound();
  const handler = special ?? HANDLERS.get(verb);
  const isAllowed = isProxied ? subresource === PROXY : kind.verbs.includes(verb);
  if (handler === undefined || !isAllowed) throw methodNotAllowed();
  return handler;
}

/**
 * Checks the path's scope. Namespaced objects must be addressed with their namespace, and cluster-scoped objects (including namespaces)
 * without one, because the request was authorized for the namespace in the path. Only reads may span all namespaces.
 */
function checkScope({ isBelowNamespace, parts, verb }: RequestInfo, { namespaced }: Resource): void {
  if (namespaced === isBelowNamespace) return;
  if (!namespaced || parts.length > 1) throw pageNotFound();
  if (verb !== 'list' && verb !== 'watch') throw methodNotAllowed();
}
