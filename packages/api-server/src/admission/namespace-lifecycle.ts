import { textAt } from '@podwright/kube-kinds';
import type { AdmissionAttributes } from '../admission-contract.ts';
import { forbidden, groupResource, notFound } from '../status/api-error.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { type AdmissionPlugin, rejected } from './admission-plugin.ts';

const NAMESPACES = { group: '', plural: 'namespaces' };
const IMMORTAL = ['default', 'kube-system', 'kube-public'];
/** Their answers must not depend on whether the namespace exists, which is information in itself. */
const ACCESS_REVIEWS = 'localsubjectaccessreviews.authorization.k8s.io';

/** Requires that the namespace of an object exists, and that it is not being terminated when an object is created in it. */
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

  /** Also checks deletions, which have no object to mutate. A namespace may have been deleted since `mutate`. */
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
