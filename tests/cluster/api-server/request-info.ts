/** The parsed method, path and query of a request. */
import { findKind, RESOURCE_KINDS, type ResourceKind } from './resource-kinds.ts';

export type RequestInfo = {
  /** The RBAC verb. */
  verb: string;
  kind: ResourceKind;
  namespace: string;
  name: string;
  subresource: string;
  /** The path after the subresource, for proxied requests. */
  rest: string;
};

const VERBS: Record<string, { one: string; many: string }> = {
  GET: { one: 'get', many: 'list' },
  HEAD: { one: 'get', many: 'list' },
  POST: { one: 'create', many: 'create' },
  PUT: { one: 'update', many: 'update' },
  PATCH: { one: 'patch', many: 'patch' },
  DELETE: { one: 'delete', many: 'deletecollection' },
};

/** Subresources of namespaces, whose paths look like those of namespaced resources. */
const OF_NAMESPACES = ['status', 'finalize'];

/** Undefined for paths without a resource, such as `/version`, and for unknown resources. */
export function requestInfo(method: string, path: string, query: URLSearchParams): RequestInfo | undefined {
  const parts = path.split('/').filter((part) => part !== '');
  const isCore = parts[0] === 'api';
  if (!isCore && parts[0] !== 'apis') return undefined;
  const [group, version, ...place] = isCore ? ['', ...parts.slice(1)] : parts.slice(1);
  if (version === undefined || place.length === 0) return undefined;
  const inside = place[0] === 'namespaces' && place.length > 2 && !OF_NAMESPACES.includes(place[2]!);
  const namespace = inside ? decodeURIComponent(place[1]!) : '';
  const [plural = '', name = '', subresource = '', ...rest] = inside ? place.slice(2) : place;
  const kind = findKind(group!, version, plural);
  if (kind === undefined) return undefined;
  const verbs = VERBS[method];
  if (verbs === undefined) return undefined;
  const isWatch = ['1', 'true'].includes(query.get('watch') ?? '');
  const verb = method === 'GET' && isWatch && subresource === '' ? 'watch' : name === '' ? verbs.many : verbs.one;
  return { verb, kind, namespace, name: decodeURIComponent(name), subresource, rest: rest.join('/') };
}

export const groupsAndVersions = (): { group: string; version: string; kinds: ResourceKind[] }[] => {
  const names = [...new Set(RESOURCE_KINDS.map(({ group, version }) => `${group}/${version}`))];
  return names.map((name) => {
    const [group = '', version = ''] = name.split('/');
    return {
      group,
      version,
      kinds: RESOURCE_KINDS.filter((kind) => kind.group === group && kind.version === version),
    };
  });
};
