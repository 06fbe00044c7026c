import type { Resource } from '@podwright/kube-schema';

const capitalized = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** A group as a word: `rbacAuthorization` for rbac.authorization.k8s.io. */
const groupWord = (group: string) =>
  (group === '' ? 'core' : group.replace(/\.k8s\.io$/, ''))
    .split(/[^A-Za-z\d_]+/)
    .map((part, index) => (index === 0 ? part : capitalized(part)))
    .join('');

/** The tag of a group version's operations. */
export const operationTag = ({ group, version }: { group: string; version: string }): string =>
  `${groupWord(group)}_${version}`;

type Named = Pick<Resource, 'group' | 'version' | 'kind' | 'namespaced'>;

/**
 * The unique name of an operation, such as `readAppsV1NamespacedDeploymentScale`. Generated clients name their functions after it. `verb`
 * may have a second word, such as `connect get`; `suffix` is a subresource, or follows the kind as it is.
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
