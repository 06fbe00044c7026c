import { type ApiObject, textAt } from '@podwright/kube-kinds';
import type { IndexValue, ObjectStore } from '../../store/object-store.ts';
import type { StoredObject } from '../../store/stored-object.ts';
import { isMirrorPod, type Reference, referencesOf } from './pod-references.ts';
import { referencesOfVolume, type VolumeReferences } from './volume-references.ts';

const NODE_NAME = 'spec.nodeName';

const nodeNameOf = (object: ApiObject): string | undefined => textAt(object, 'spec', 'nodeName') || undefined;

/** The indexes that the store must have. */
export const NODE_INDEXES: Readonly<Record<string, Readonly<Record<string, IndexValue>>>> = {
  pods: { [NODE_NAME]: nodeNameOf },
};

/** The object that a node requests. */
export type Requested = { namespace: string; name: string };

/**
 * Finds out whether an object belongs to a node: whether a pod of the node refers to it, in one or more steps. Reads the newest state of the
 * store, so a pod's objects are accessible as soon as the pod is assigned to the node, and no longer once it is deleted.
 */
export class NodeRelations {
  readonly #store: ObjectStore;
  /** References by the state of the pod or volume, so that each state is decoded at most once. */
  readonly #ofPods = new WeakMap<StoredObject, ReadonlySet<Reference>>();
  readonly #ofVolumes = new WeakMap<StoredObject, { references: VolumeReferences | undefined }>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** Whether `spec.nodeName` of an object is the node. */
  names(node: string, resource: string, requested: Requested): boolean {
    const object = this.#store.get({ resource, ...requested })?.decode();
    return object !== undefined && nodeNameOf(object) === node;
  }

  /** Whether a pod of the node in the namespace has the reference. */
  hasPodWith(node: string, namespace: string, reference: Reference): boolean {
    const { objects } = this.#store.list('pods', { namespace, index: { name: NODE_NAME, value: node } });
    return objects.some((pod) => this.#referencesOf(pod).has(reference));
  }

  /** Whether a pod of the node uses the volume. */
  hasVolume(node: string, name: string): boolean {
    const volume = this.#store.get({ resource: 'persistentvolumes', namespace: '', name });
    return volume !== undefined && this.#uses(node, this.#referencesOfVolume(volume));
  }

  /** Whether a pod of the node refers to the Secret, or uses a volume that does. */
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
