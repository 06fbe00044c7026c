import { QueryValues } from '../wire/query-values.ts';
import { exactName } from './exact-name.ts';
import type { RequestUrl } from './request-url.ts';

/** What a request is for (apiserver, endpoints/request). Fields that do not apply are ''. */
export type RequestInfo = {
  /** Whether the request is for API objects. Otherwise only `path` and `verb` apply. */
  isResourceRequest: boolean;
  path: string;
  /** `get`, `list`, `watch`, `create`, …; for other paths, the HTTP method in lower case; '' for a method that objects do not have. */
  verb: string;
  apiGroup: string;
  apiVersion: string;
  /** The name of the namespace also for a request for that Namespace. */
  namespace: string;
  /** The plural name. */
  resource: string;
  subresource: string;
  /** The name in the path, or the one that the field selector of a list or watch names. */
  name: string;
  /** The path from the resource on. */
  parts: readonly string[];
  /** Whether the path begins with the deprecated `/watch/` or `/proxy/`. */
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

/** Subresources of namespaces: `/namespaces/x/status` is not a list of the resource `status`. */
const OF_NAMESPACES = ['status', 'finalize'];

const VERBS_IN_PATHS = ['proxy', 'watch'];

/** Parses the method and the URL of a request. */
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
  hasVerbInPath: false,
};

type Target = Pick<RequestInfo, 'namespace' | 'resource' | 'name' | 'subresource' | 'parts'>;

function targetOf(below: readonly string[], verb: string): Target {
  const isInNamespace = below[0] === 'namespaces' && below.length > 1;
  const parts = isInNamespace && below.length > 2 && !OF_NAMESPACES.includes(below[2]!) ? below.slice(2) : below;
  const [resource = '', name = '', subresource = ''] = parts;
  const namespace = isInNamespace ? below[1]! : '';
  return { namespace, resource, name, subresource: verb === 'proxy' ? '' : subresource, parts };
}

/** The verb of a request, which depends on the query if the path names no object. */
function collectionVerb({ verb, name }: Pick<RequestInfo, 'verb' | 'name'>, query: URLSearchParams) {
  if (name !== '') return { verb, name };
  if (verb === 'delete') return { verb: 'deletecollection', name };
  if (verb !== 'get') return { verb, name };
  const isWatch = new QueryValues(query).flag('watch') === true;
  return { verb: isWatch ? 'watch' : 'list', name: exactName(query.get('fieldSelector') ?? '') };
}

/** Subresources whose requests may last as long as the client likes. */
const LONG_RUNNING = ['attach', 'exec', 'proxy', 'log', 'portforward'];

/** Whether a request has no time limit. */
export const isLongRunning = ({ verb, subresource }: RequestInfo): boolean =>
  verb === 'watch' || verb === 'proxy' || LONG_RUNNING.includes(subresource);
