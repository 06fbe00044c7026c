/** Converts between URL fragments and the pages they refer to. Pure functions. */
import type { ObjectName, Resource } from '../api/objects.ts';
import { resourceId, SECTIONS } from '../api/resources.ts';

export type Route =
  | { page: 'overview' | 'events' | 'images' | 'custom' }
  /** The ID of a navigation section, such as `workloads`. */
  | { page: 'section'; section: string }
  /** The list of a resource, with its ID such as `apps/v1/deployments`. */
  | { page: 'list'; resource: string }
  | { page: 'pod'; namespace: string; name: string; tab: string }
  /** The page of an object. `namespace` is '' for cluster-scoped objects. */
  | { page: 'object'; resource: string; namespace: string; name: string; tab: string }
  | { page: 'unknown' };

const PAGES = ['events', 'images', 'custom'] as const;
const NO_NAMESPACE = '-';

/** Returns the page for a fragment such as `#/pods/default/web`. */
export function routeOf(fragment: string): Route {
  const parts = fragment
    .replace(/^#?\/?/, '')
    .split('/')
    .map(decoded);
  const [first = '', ...rest] = parts;
  if (first === '') return { page: 'overview' };
  const page = PAGES.find((one) => one === first);
  if (page !== undefined) return { page };
  if (SECTIONS.some(({ id }) => id === first)) return { page: 'section', section: first };
  if (first === 'pods' && rest.length >= 2)
    return { page: 'pod', namespace: rest[0]!, name: rest[1]!, tab: rest[2] ?? '' };
  if (first === 'list') return { page: 'list', resource: rest.join('/') };
  if (first !== 'object') return { page: 'unknown' };
  // the ID of a resource in the core group starts with its version
  const length = /^v\d/.test(rest[0] ?? '') ? 2 : 3;
  const [namespace, name, tab = ''] = rest.slice(length);
  if (namespace === undefined || name === undefined) return { page: 'unknown' };
  const resource = rest.slice(0, length).join('/');
  return { page: 'object', resource, namespace: namespace === NO_NAMESPACE ? '' : namespace, name, tab };
}

/** Decodes one segment of a URL fragment. Segments with invalid escapes are returned unchanged. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const fragment = (...parts: string[]): string => `#/${parts.map(encodeURIComponent).join('/')}`;

export const listHref = (resource: Resource): string => fragment('list', ...resourceId(resource).split('/'));

/** Returns the fragment of an object's page. Pods have their own page. */
export function objectHref(resource: Resource, { namespace, name }: Omit<ObjectName, 'kind'>, tab?: string): string {
  const end = tab === undefined || tab === '' ? [] : [tab];
  if (resource.group === '' && resource.plural === 'pods') return fragment('pods', namespace, name, ...end);
  return fragment(
    'object',
    ...resourceId(resource).split('/'),
    namespace === '' ? NO_NAMESPACE : namespace,
    name,
    ...end,
  );
}

export const pageHref = (page: string): string => fragment(page);
