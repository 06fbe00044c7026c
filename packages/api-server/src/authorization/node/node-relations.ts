import type { IndexValue, ObjectStore, StoredObject } from '@podwright/api-machinery';
import { type ApiObject, textAt } from '@podwright/kube-kinds';
import { isMirrorPod, type Reference, referencesOf } from './pod-references.ts';
import { referencesOfVolume, type VolumeReferences } from './volume-references.ts';

const NODE_NAME = 'spec.nodeName';

const nodeNameOf = (object: ApiObject): string | undefined => textAt(object, 'spec', 'nodeName') || undefined;

/** The indexes, by resource, that the node authorizer needs in the store. */
export const NODE_INDEXES: Readonly<Record<string, Readonly<Record<string, IndexValue>>>> = {
  pods: { [NODE_NAME]: nodeNameOf },
};

/** The object that a kubelet requests. */
export type Requested = { namespace: string; name: string };

/**
 * Determines whether an object is related to a node, i.e. whether a pod on the node refers to it directly or indirectly. Always reads the
 * latest state from the store: a pod's objects become accessible as soon as it is assigned to the node, and inaccessible once it is
 * deleted.
 */
export class NodeRelations {
  readonly #store: ObjectStore;
  /** Cached references by stored object, so that each version of a pod or volume is decoded only once. */
  readonly #ofPods = new WeakMap<StoredObject, ReadonlySet<Reference>>();
  readonly #ofVolumes = new WeakMap<StoredObject, { references: VolumeReferences | undefined }>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** Whether the requested object's `spec.nodeName` is this node. */
  names(node: string, resource: string, requested: Requested): boolean {
    const object = this.#store.get({ resource, ...requested })?.decode();
    return object !== undefined && nodeNameOf(object) === node;
  }

  /** Whether a pod on the node and in the namespace has the reference. */
  hasPodWith(node: string, namespace: string, reference: Reference): boolean {
    const { objects } = this.#store.list('pods', { namespace, index: { name: NODE_NAME, value: node } });
    return objects.some((pod) => this.#referencesOf(pod).has(reference));
  }

  /** Whether a pod on the node uses the PersistentVolume. */
  hasVolume(node: string, name: string): boolean {
    const volume = this.#store.get({ resource: 'persistentvolumes', namespace: '', name });
    return volume !== undefined && this.#uses(node, this.#referencesOfVolume(volume));
  }

  /** Whether a pod on the node refers to the Secret, or uses a PersistentVolume that does. */
  hasSecret(node: string, { namespace, name }: Requested): boolean {
    if (this.hasPodWith(node, namespace, `secret/${name}`)) return true;
    return this.#store.list('persistentvolumes').objects.some((volume) => {
      const references = this.#referencesOfVolume(volume);
      return references?.secrets.includes(`${namespace}/${name}`) === true && this.#uses(node, references);
    });
  }

  #uses(node: string, references: VolumeReferences | undefined): boolean {
    const [namespace = '', claim = ''] = references?.claim.split('/') ?? [];
    return references !== undefined && this.hasPodWith(node, namespace, `claim/${claim}`);
  }

  #referencesOf(pod: StoredObject): ReadonlySet<Reference> {
    const known = this.#ofPods.get(pod);
    if (known !== undefined) return known;
    const object = pod.decode();
    const references = new Set(isMirrorPod(object) ? [] : referencesOf(object));
    this.#ofPods.set(pod, references);
    return references;
  }

  #referencesOfVolume(volume: StoredObject): VolumeReferences | undefined {
    const known = this.#ofVolumes.get(volume) ?? { references: referencesOfVolume(volume.decode()) };
    this.#ofVolumes.set(volume, known);
    return known.references;
  }
}
