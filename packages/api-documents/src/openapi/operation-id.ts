import type { Resource } from '@podwright/kube-schema';

const capitalized = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** Converts a group to a single word, for example `rbac.authorization.k8s.io` to `rbacAuthorization`. */
const groupWord = (group: string) =>
  (group === '' ? 'core' : group.replace(/\.k8s\.io$/, ''))
    .split(/[^A-Za-z\d_]+/)
    .map((part, index) => (index === 0 ? part : capitalized(part)))
    .join('');

/** Returns the tag for the operations in a group version. */
export const operationTag = ({ group, version }: { group: string; version: string }): string =>
  `${groupWord(group)}_${version}`;

type Named = Pick<Resource, 'group' | 'version' | 'kind' | 'namespaced'>;

/**
 * Returns the unique ID of an operation, such as `readAppsV1NamespacedDeploymentScale`. Code generators name client functions after it.
 * `verb` may consist of two words, as in `connect get`. `suffix` follows the kind, for example the name of a subresource.
 */
export function operationId(resource: Named, verb: string, suffix: string): string {
  const [first = '', second = ''] = verb.split(' ');
  const isCollection = first === 'deleteCollection';
  return [
    isCollection ? 'delete' : first,
    capitalized(groupWord(resource.group)),
    capitalized(resource.version),
    isCollection ? 'Collection' : capitalized(second),
    resource.namespaced && suffix !== 'ForAllNamespaces' ? 'Namespaced' : '',
    resource.kind,
    capitalized(suffix),
  ].join('');
}
