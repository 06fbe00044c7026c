import type { Resource } from './kube-object.ts';

/**
 * Identifies a collection, object or subresource of a resource. If `namespace` is unset or '', the collection spans all namespaces.
 * `subresource` may have several path segments.
 */
type Place = { namespace?: string; name?: string; subresource?: string };

/** Returns the API path of a collection, of an object in it, or of a subresource of the object. All names are escaped. */
export function pathOf(
  { group, version, plural, namespaced }: Pick<Resource, 'group' | 'version' | 'plural' | 'namespaced'>,
  { namespace = '', name, subresource }: Place = {},
): string {
  const root = group === '' ? ['api', version] : ['apis', group, version];
  const within = namespaced && namespace !== '' ? ['namespaces', namespace] : [];
  const object = name === undefined ? [] : [name, ...(subresource?.split('/') ?? [])];
  return `/${[...root, ...within, plural, ...object].map(encodeURIComponent).join('/')}`;
}
