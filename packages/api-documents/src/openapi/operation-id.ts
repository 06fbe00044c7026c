import type { Resource } from '@podwright/kube-schema';

const capitalized = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** Converts a group to a single word, such as `rbacAuthorization` for rbac.authorization.k8s.io. */
const groupWord = (group: string) =>
  (group === '' ? 'core' : group.replace(/\.k8s\.io$/, ''))
    .split(/[^A-Za-z\d_]+/)
    .map((part, index) => (index === 0 ? part : capitalized(part)))
    .join('');

/** Returns the tag for the operations of a group version. */
export const operationTag = ({ group, version }: { group: string; version: string }): string =>
  `${groupWord(group)}_${version}`;

type Named = Pick<Resource, 'group' | 'version' | 'kind' | 'namespaced'>;

/**
 * Returns the unique ID of an operation, such as `readAppsV1NamespacedDeploymentScale`. Generated clients name their functions after it.
 * `verb` may have a second word, as in `connect get`. `suffix` is a subresource or other text that follows the kind.
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
