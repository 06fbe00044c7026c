import { join } from 'node:path';
import { isApiStatus, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import type { Claim, StorageClass, Volume } from '../objects/storage.ts';
import { subjectOf } from '../pods/pod-writer.ts';
import { PROVISIONER, SELECTED_NODE } from './decide-claim.ts';

/** The provisioner of volumes that are directories of the node. */
export const DIRECTORY_PROVISIONER = 'podwright.dev/directory';
const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

export type DirectoryProvisionerOptions = {
  /** The directory with one directory for each volume. */
  directory: string;
  /** The only node whose volumes are made. */
  nodeName: string;
  /** Creates the directory of a volume, which pods of every user may write. Resolves if it exists. */
  create: (path: string) => Promise<void>;
  /** Removes the directory of a volume with all its files. Resolves if it does not exist. */
  remove: (path: string) => Promise<void>;
};

/**
 * Makes a directory of the node for each claim of a StorageClass whose provisioner is `podwright.dev/directory`, and creates a default one if
 * there is no StorageClass at the first start. A directory has no size limit.
 */
export function directoryProvisioner(options: DirectoryProvisionerOptions): Controller {
  return async (parts) => {
    const { objects, logger, signal } = parts;
    const claims = objects.of<Claim>(PERSISTENT_VOLUME_CLAIMS);
    const volumes = objects.of<Volume>(PERSISTENT_VOLUMES);
    const classes = objects.of<StorageClass>(STORAGE_CLASSES);
    if (!(await untilSynced(claims, volumes, classes))) return;
    const provisioner = new DirectoryProvisioner(parts, options);
    const queue = new WorkQueue({
      sync: (key) => provisioner.sync(key),
      failure: 'failed to provision or delete a volume',
      logger,
      signal,
    });
    queue.add(''); // the default StorageClass
    claims.onChange(({ object }) => queue.add(placeText(object.metadata)));
    volumes.onChange(({ type, object }) => {
      if (type !== 'DELETED') queue.add(`/${object.metadata.name}`);
    });
    await queue.ended;
  };
}

class DirectoryProvisioner {
  readonly #parts: ControllerParts;
  readonly #options: DirectoryProvisionerOptions;

  constructor(parts: ControllerParts, options: DirectoryProvisionerOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  sync(key: string): Promise<void> {
    if (key === '') return this.#ensureDefaultClass();
    return key.startsWith('/') ? this.#reclaim(key.slice(1)) : this.#provision(key);
  }

  async #ensureDefaultClass(): Promise<void> {
    const { client, objects, signal } = this.#parts;
    if (objects.of<StorageClass>(STORAGE_CLASSES).list().length > 0) return;
    const standard = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'standard', annotations: { [DEFAULT_CLASS]: 'true' } },
      ...{ provisioner: DIRECTORY_PROVISIONER, reclaimPolicy: 'Delete', volumeBindingMode: 'WaitForFirstConsumer' },
    };
    await client.create(STORAGE_CLASSES, standard, { signal }).catch((error: unknown) => {
      if (!isApiStatus(error, 'AlreadyExists')) throw error;
    });
  }

  async #provision(key: string): Promise<void> {
    const { client, objects, events, signal } = this.#parts;
    const { directory, nodeName, create } = this.#options;
    const claim = objects.of<Claim>(PERSISTENT_VOLUME_CLAIMS).get(placeOfText(key));
    if (claim === undefined || !this.#isToProvision(claim)) return;
    const { namespace, name, uid } = claim.metadata;
    const { storageClassName = '', accessModes = [], resources } = claim.spec;
    const storageClass = objects.of<StorageClass>(STORAGE_CLASSES).get({ name: storageClassName });
    if (storageClass === undefined || claim.spec.volumeMode === 'Block') return;
    const path = join(directory, `pvc-${uid}`);
    await create(path);
    const hostname = { key: 'kubernetes.io/hostname', operator: 'In', values: [nodeName] };
    const volume = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `pvc-${uid}`, annotations: { [PROVISIONED_BY]: DIRECTORY_PROVISIONER } },
      spec: {
        ...{ accessModes, storageClassName, capacity: { storage: resources?.requests?.storage ?? '0' } },
        persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
        hostPath: { path, type: 'Directory' },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [hostname] }] } },
      },
    };
    const created = await client.create<Volume>(PERSISTENT_VOLUMES, volume, { signal }).catch((error: unknown) => {
      if (!isApiStatus(error, 'AlreadyExists')) throw error;
      return undefined;
    });
    if (created === undefined) return;
    objects.of<Volume>(PERSISTENT_VOLUMES).written(created);
    const message = `Successfully provisioned volume pvc-${uid}`;
    events(DIRECTORY_PROVISIONER).event(
      subjectOf(PERSISTENT_VOLUME_CLAIMS, claim),
      'Normal',
      'ProvisioningSucceeded',
      message,
    );
  }

  #isToProvision({ metadata, spec }: Claim): boolean {
    const { annotations = {}, deletionTimestamp } = metadata;
    const node = annotations[SELECTED_NODE];
    return (
      annotations[PROVISIONER] === DIRECTORY_PROVISIONER &&
      deletionTimestamp === undefined &&
      !spec.volumeName &&
      (node === undefined || node === this.#options.nodeName)
    );
  }

  /** Removes the files of a volume that no claim has any longer, and then the volume. */
  async #reclaim(name: string): Promise<void> {
    const { client, objects, signal } = this.#parts;
    const volume = objects.of<Volume>(PERSISTENT_VOLUMES).get({ name });
    if (volume === undefined || !this.#isToReclaim(volume)) return;
    // the path of the volume is not used: clients may have changed it
    await this.#options.remove(join(this.#options.directory, name));
    const { uid = '' } = volume.metadata;
    await client
      .delete(PERSISTENT_VOLUMES, { name }, { preconditions: { uid } }, { signal })
      .catch((error: unknown) => {
        if (!isApiStatus(error, 404)) throw error;
      });
    objects.of<Volume>(PERSISTENT_VOLUMES).deleting({ name }, uid);
  }

  #isToReclaim({ metadata, spec, status }: Volume): boolean {
    return (
      metadata.annotations?.[PROVISIONED_BY] === DIRECTORY_PROVISIONER &&
      metadata.deletionTimestamp === undefined &&
      metadata.name === `pvc-${spec.claimRef?.uid}` &&
      spec.persistentVolumeReclaimPolicy === 'Delete' &&
      status?.phase === 'Released'
    );
  }
}
