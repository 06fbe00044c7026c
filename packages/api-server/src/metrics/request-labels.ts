import type { Schema } from '@podwright/kube-schema';
import { CONNECTING } from '../server/request-info.ts';
import type { ObservedRequest } from '../server/request-observer.ts';
import { headerOf } from '../wire/http-exchange.ts';
import { mediaTypeOf } from '../wire/media-type.ts';

/** Labels of upstream's request metrics. Their values are bounded: '' for unknown resources. */
export type RequestLabels = {
  verb: string;
  dry_run: string;
  group: string;
  version: string;
  resource: string;
  subresource: string;
  scope: string;
  component: string;
};

const VERBS: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
};
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const APPLY = 'application/apply-patch+yaml';

const OTHER = { group: '', version: '', resource: '', subresource: '', scope: '' };

/** Returns the labels for a parsed request. */
export function requestLabels(schema: Schema, { request, info, query }: ObservedRequest): RequestLabels {
  const method = METHODS.includes(request.method ?? '') ? request.method! : 'OTHER';
  const common = { verb: method, dry_run: query?.has('dryRun') ? 'All' : '', component: 'apiserver' };
  if (info === undefined || !info.isResourceRequest) return { ...common, ...OTHER };
  const resource = schema.resource(info.apiGroup, info.apiVersion, info.resource);
  if (resource === undefined) return { ...common, ...OTHER };
  const subresource = Object.hasOwn(resource.subresources ?? {}, info.subresource) ? info.subresource : '';
  const { group, version, plural } = resource;
  const isApply = info.verb === 'patch' && mediaTypeOf(headerOf(request, 'content-type')) === APPLY;
  const isConnecting = CONNECTING.includes(subresource);
  const verb = isConnecting ? 'CONNECT' : isApply ? 'APPLY' : (VERBS[info.verb] ?? method);
  const scope = info.name !== '' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster';
  return { ...common, verb, group, version, resource: plural, subresource, scope };
}
