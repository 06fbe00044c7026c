import {
  type AdmissionAttributes,
  forbidden,
  groupResource,
  notFound,
  type ObjectStore,
} from '@podwright/api-machinery';
import { textAt } from '@podwright/kube-kinds';
import { type AdmissionPlugin, rejected } from './admission-plugin.ts';

const NAMESPACES = { group: '', plural: 'namespaces' };
const IMMORTAL = ['default', 'kube-system', 'kube-public'];
/** LocalSubjectAccessReviews are admitted even if their namespace does not exist, because the response must not reveal whether it does. */
const ACCESS_REVIEWS = 'localsubjectaccessreviews.authorization.k8s.io';

/** Requires an object's namespace to exist and, on creation, not to be terminating. */
export class NamespaceLifecycle implements AdmissionPlugin {
  readonly name = 'NamespaceLifecycle';
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  mutate(attributes: Parameters<NonNullable<AdmissionPlugin['mutate']>>[0]) {
    this.#check(attributes);
    return attributes.object;
  }

  /**
   * Runs the checks of `mutate` again for creates and updates, because the namespace might have been deleted since. Also checks deletions,
   * for which `mutate` is not called: the system namespaces cannot be deleted.
   */
  validate(attributes: AdmissionAttributes): void {
    const { operation, resource, name } = attributes;
    if (operation === 'DELETE' && groupResource(resource) === 'namespaces' && IMMORTAL.includes(name))
      throw forbidden(NAMESPACES, name, 'this namespace may not be deleted');
    if (operation === 'CREATE' || operation === 'UPDATE') this.#check(attributes);
  }

  #check(attributes: AdmissionAttributes): void {
    const { operation, resource, namespace } = attributes;
    const kind = groupResource(resource);
    if (namespace === '' || kind === 'namespaces' || kind === ACCESS_REVIEWS || operation === 'CONNECT') return;
    const found = this.#store.get({ resource: 'namespaces', namespace: '', name: namespace })?.decode();
    if (found === undefined) throw notFound(NAMESPACES, namespace);
    if (operation !== 'CREATE' || textAt(found, 'status', 'phase') !== 'Terminating') return;
    const message = `namespace ${namespace} is being terminated`;
    throw rejected(
      attributes,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
      [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }],
    );
  }
}
