/** A kind of object that an API server serves, with its names on the command line. */
export type ResourceKind = {
  group: string;
  version: string;
  kind: string;
  singular: string;
  plural: string;
  short: readonly string[];
  /** Names that stand for several kinds, such as `all`. */
  categories: readonly string[];
  namespaced: boolean;
  /** Verbs of the API, such as `list`. */
  verbs: readonly string[];
  subresources: readonly string[];
};

/** Returns the name of a kind as kubectl prints it before a slash: `deployment.apps`, `service`. */
export const qualifiedName = ({ singular, group }: Pick<ResourceKind, 'singular' | 'group'>): string =>
  group === '' ? singular : `${singular}.${group}`;

/** Returns the path of a collection, or of an object in it. Without `namespace`, the collection is that of all namespaces. */
export function pathOf(
  { group, version, plural, namespaced }: Pick<ResourceKind, 'group' | 'version' | 'plural' | 'namespaced'>,
  { namespace, name }: { namespace?: string; name?: string } = {},
): string {
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const within = namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${base}${within}/${plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}
