import { QueryValues } from '../wire/query-values.ts';
import { exactName } from './exact-name.ts';
import type { RequestUrl } from './request-url.ts';

/** Request attributes derived from the method and URL (apiserver, endpoints/request). '' where not applicable. */
export type RequestInfo = {
  /** Whether this is a request for API objects. If not, only `path` and `verb` apply. */
  isResourceRequest: boolean;
  path: string;
  /**
   * `get`, `list`, `watch`, `create`, …; for non-resource requests, the lowercase HTTP method. '' if API objects do not support the method.
   */
  verb: string;
  apiGroup: string;
  apiVersion: string;
  /** The namespace in the path. For requests for a Namespace object, this is the object's name. */
  namespace: string;
  /** The plural resource name. */
  resource: string;
  subresource: string;
  /** The object's name from the path, or the one required by the field selector of a list or watch. */
  name: string;
  /** Path segments, starting with the resource. */
  parts: readonly string[];
  /** Whether the path has a `/namespaces/NAME/` prefix before the resource. */
  isBelowNamespace: boolean;
  /** Whether the path contains the deprecated `/watch/` or `/proxy/` prefix. */
  hasVerbInPath: boolean;
};

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Subresources of namespaces. They must be listed because `/namespaces/x/status` would otherwise be a list of the resource `status`. */
const OF_NAMESPACES = ['status', 'finalize'];

const VERBS_IN_PATHS = ['proxy', 'watch'];

/** Derives the request attributes from the method and URL. */
export function requestInfo(method: string, { path, query }: RequestUrl): RequestInfo {
  const parts = path.replaceAll(/^\/+|\/+$/g, '').split('/');
  const [prefix, ...rest] = parts;
  const isCore = prefix === 'api';
  if (!(isCore || prefix === 'apis') || rest.length < (isCore ? 2 : 3))
    return { ...NO_RESOURCE, path, verb: method.toLowerCase() };
  const [apiGroup, apiVersion, ...below] = isCore ? ['', ...rest] : rest;
  const info = { ...NO_RESOURCE, isResourceRequest: true, path, apiGroup: apiGroup!, apiVersion: apiVersion! };
  const hasVerbInPath = VERBS_IN_PATHS.includes(below[0]!);
  const verb = hasVerbInPath ? below.shift()! : Object.hasOwn(VERBS, method) ? VERBS[method]! : '';
  const target = targetOf(below, verb);
  return { ...info, ...target, hasVerbInPath, ...collectionVerb({ verb, name: target.name }, query) };
}

const NO_RESOURCE: Omit<RequestInfo, 'path' | 'verb'> = {
  isResourceRequest: false,
  apiGroup: '',
  apiVersion: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  parts: [],
  isBelowNamespace: false,
  hasVerbInPath: false,
};

type Target = Pick<RequestInfo, 'namespace' | 'resource' | 'name' | 'subresource' | 'parts' | 'isBelowNamespace'>;

function targetOf(below: readonly string[], verb: string): Target {
  const isInNamespace = below[0] === 'namespaces' && below.length > 1;
  const isBelowNamespace = isInNamespace && below.length > 2 && !OF_NAMESPACES.includes(below[2]!);
  const parts = isBelowNamespace ? below.slice(2) : below;
  const [resource = '', name = '', subresource = ''] = parts;
  const namespace = isInNamespace ? below[1]! : '';
  return { namespace, resource, name, subresource: verb === 'proxy' ? '' : subresource, parts, isBelowNamespace };
}

/**
 * Returns a request's verb and name. If the path contains no name, they are derived from the query (`watch`, and a field selector for
 * `metadata.name`).
 */
function collectionVerb({ verb, name }: Pick<RequestInfo, 'verb' | 'name'>, query: URLSearchParams) {
  if (name !== '') return { verb, name };
  if (verb === 'delete') return { verb: 'deletecollection', name };
  if (verb !== 'get') return { verb, name };
  const isWatch = new QueryValues(query).flag('watch') === true;
  return { verb: isWatch ? 'watch' : 'list', name: exactName(query.get('fieldSelector') ?? '') };
}

/** The subresource whose requests are forwarded to a backend, whatever their method. */
export const PROXY = 'proxy';

/** Subresources that connect the client to a backend: requests can be upgraded, and the backend provides the response. */
export const CONNECTING: readonly string[] = ['attach', 'exec', 'portforward', PROXY];

/** Subresources whose requests have no timeout, such as `exec` and `log`. */
const LONG_RUNNING = [...CONNECTING, 'log'];

/** Whether a request is long-running, which means that it has no timeout. */
export const isLongRunning = ({ verb, subresource }: RequestInfo): boolean =>
  verb === 'watch' || verb === 'proxy' || LONG_RUNNING.includes(subresource);
