import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { withTimeout } from '@podwright/base';
import { compareQuantities, storageClassOf } from '@podwright/kube-api';
import { isApiStatus, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import type { Claim, StorageClass, Volume } from '../objects/storage.ts';
import { subjectOf } from '../pods/pod-writer.ts';
import { PROVISIONER, SELECTED_NODE } from './decide-claim.ts';
import {
  DIRECTORY_FINALIZER,
  DIRECTORY_PROVISIONER,
  decideDirectory,
  isDirectory,
  PROVISIONED_BY,
  wantedSize,
} from './decide-directory.ts';

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';
const STANDARD = 'standard';
const HOSTNAME = 'kubernetes.io/hostname';

export type DirectoryProvisionerOptions = {
  /** The parent directory of all volume directories. */
  directory: string;
  /** The node with the directories. Claims whose pod is on another node are not provisioned. */
  nodeName: string;
  /** Creates a volume's directory, writable by pods of any user. Resolves if it already exists. */
  create: (path: string) => Promise<void>;
  /**
   * Removes a volume's directory with all its files. Resolves if it does not exist. Rejects when the signal aborts, which bounds the time
   * spent on a directory with many files; a later call continues the removal.
   */
  remove: (path: string, signal: AbortSignal) => Promise<void>;
};

/** Time limit for one attempt to remove a directory, in milliseconds, so that other removals are not held up. */
const REMOVAL_MS = 30_000;
/** Maximum delay before a failed attempt to provision or remove a volume is retried, in milliseconds. */
const MAX_RETRY_MS = 60_000;

/**
 * Creates a directory on the node for each claim of a StorageClass with the provisioner `podwright.dev/directory`. On the first start,
 * creates a default StorageClass if there is no StorageClass; this class makes the scheduler place pods with new claims on this node even
 * if other nodes have joined. Directories have no size limit, so expanding a claim only changes its capacity.
 */
export function directoryProvisioner(options: DirectoryProvisionerOptions): Controller {
  return async (parts) => {
    const { objects, logger, signal } = parts;
    const claims = objects.of<Claim>(PERSISTENT_VOLUME_CLAIMS);
    const volumes = objects.of<Volume>(PERSISTENT_VOLUMES);
    const classes = objects.of<StorageClass>(STORAGE_CLASSES);
    if (!(await untilSynced(claims, volumes, classes))) return;
    const provisioner = new DirectoryProvisioner(parts, options);
    const ofClaims = new WorkQueue({
      sync: (key) => provisioner.syncClaim(key),
      failure: 'failed to provision or expand a volume',
      logger,
      signal,
    });
    // removes volumes in a separate queue, so that long removals do not delay claims
    const ofVolumes = new WorkQueue({
      sync: (name) => provisioner.syncVolume(name),
      failure: 'failed to delete a volume',
      maxRetryMs: MAX_RETRY_MS,
      logger,
      signal,
    });
    ofClaims.add(''); // the default StorageClass
    claims.onChange(({ object }) => ofClaims.add(placeText(object.metadata)));
    volumes.onChange(({ type, object }) => {
      if (type !== 'DELETED') ofVolumes.add(object.metadata.name);
    });
    await Promise.all([ofClaims.ended, ofVolumes.ended]);
  };
}

class DirectoryProvisioner {
  readonly #parts: ControllerParts;
  readonly #options: DirectoryProvisionerOptions;
  /** UIDs of claims that the provisioner has refused and for which an event has been recorded, by namespace and name. */
  readonly #refused = new Map<string, string>();

  constructor(parts: ControllerParts, options: DirectoryProvisionerOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  async #ensureDefaultClass(): Promise<void> {
    const { client, objects, signal } = this.#parts;
    const { nodeName } = this.#options;
    const allowedTopologies = [{ matchLabelExpressions: [{ key: HOSTNAME, values: [nodeName] }] }];
    const classes = objects.of<StorageClass>(STORAGE_CLASSES).list();
    const present = classes.find(({ metadata }) => metadata.name === STANDARD);
    if (present !== undefined) return this.#restrict(present, allowedTopologies);
    if (classes.length > 0) return;
    const standard = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: STANDARD, annotations: { [DEFAULT_CLASS]: 'true' } },
      ...{ provisioner: DIRECTORY_PROVISIONER, reclaimPolicy: 'Delete', volumeBindingMode: 'WaitForFirstConsumer' },
      ...{ allowVolumeExpansion: true, allowedTopologies },
    };
    await client.create(STORAGE_CLASSES, standard, { signal }).catch((error: unknown) => {
      if (!isApiStatus(error, 'AlreadyExists')) throw error;
    });
  }

  /**
   * Restricts the default StorageClass to this node unless it already is: it might have been created by an earlier start, or when the node
   * had a different name.
   */
  async #restrict(present: StorageClass, allowedTopologies: StorageClass['allowedTopologies']): Promise<void> {
    if (present.provisioner !== DIRECTORY_PROVISIONER) return;
    if (isDeepStrictEqual(present.allowedTopologies, allowedTopologies)) return;
    const { client, signal } = this.#parts;
    const patch = { type: 'merge' as const, body: { allowedTopologies } };
    await client.patch(STORAGE_CLASSES, { name: STANDARD }, patch, { signal });
  }

  async syncClaim(key: string): Promise<void> {
    if (key === '') return this.#ensureDefaultClass();
    const { objects } = this.#parts;
    const claim = objects.of<Claim>(PERSISTENT_VOLUME_CLAIMS).get(placeOfText(key));
    if (claim === undefined) return void this.#refused.delete(key);
    if (this.#isToProvision(claim)) return this.#provision(claim);
    const volume = objects.of<Volume>(PERSISTENT_VOLUMES).get({ name: claim.spec.volumeName ?? '' });
    const size = wantedSize(claim);
    if (size !== undefined && volume !== undefined && isDirectory(volume)) await this.#expand(claim, volume, size);
  }

  async #provision(claim: Claim): Promise<void> {
    const { client, objects, signal } = this.#parts;
    const { directory, nodeName, create } = this.#options;
    const { namespace, name, uid } = claim.metadata;
    const { accessModes = [], resources } = claim.spec;
    const storageClassName = storageClassOf(claim);
    const storageClass = objects.of<StorageClass>(STORAGE_CLASSES).get({ name: storageClassName });
    if (storageClass === undefined || !isOurs(storageClass, claim)) return;
    if (this.#isElsewhere(claim)) return this.#refuseNode(claim);
    if (claim.spec.volumeMode === 'Block') return this.#refuseBlock(claim);
    const reclaimPolicy = storageClass.reclaimPolicy ?? 'Delete';
    const path = join(directory, `pvc-${uid}`);
    await create(path);
    const hostname = { key: HOSTNAME, operator: 'In', values: [nodeName] };
    const volume = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: {
        name: `pvc-${uid}`,
        annotations: { [PROVISIONED_BY]: DIRECTORY_PROVISIONER },
        ...(reclaimPolicy === 'Delete' && { finalizers: [DIRECTORY_FINALIZER] }),
      },
      spec: {
        ...{ accessModes, storageClassName, capacity: { storage: resources?.requests?.storage ?? '0' } },
        persistentVolumeReclaimPolicy: reclaimPolicy,
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
    this.#recordEvent(claim, 'ProvisioningSucceeded', `Successfully provisioned volume pvc-${uid}`);
  }

  #refuseBlock(claim: Claim): void {
    this.#refuse(claim, 'its volumes are directories, which cannot have the volumeMode Block');
  }

  #refuseNode(claim: Claim): void {
    const { nodeName } = this.#options;
    const elsewhere = claim.metadata.annotations?.[SELECTED_NODE];
    const advice = `restrict the StorageClass by allowedTopologies to ${HOSTNAME} ${nodeName}`;
    this.#refuse(claim, `its volumes are directories of the node ${nodeName}, not of ${elsewhere}; ${advice}`);
  }

  /** Records an event with the reason why a claim gets no volume, once per claim. */
  #refuse(claim: Claim, why: string): void {
    const place = placeText(claim.metadata);
    if (this.#refused.get(place) === claim.metadata.uid) return;
    this.#refused.set(place, claim.metadata.uid);
    const message = `failed to provision volume with StorageClass "${storageClassOf(claim)}": ${why}`;
    this.#recordEvent(claim, 'ProvisioningFailed', message);
  }

  /** Expands a claim. Writes the volume first, so that the claim's capacity never exceeds the volume's. */
  async #expand(claim: Claim, volume: Volume, storage: string): Promise<void> {
    const { client, objects, signal } = this.#parts;
    const volumes = objects.of<Volume>(PERSISTENT_VOLUMES);
    const claims = objects.of<Claim>(PERSISTENT_VOLUME_CLAIMS);
    const { name, uid: volumeUid } = volume.metadata;
    if (compareQuantities(volume.spec.capacity?.storage ?? '0', storage) < 0) {
      const body = { metadata: { uid: volumeUid }, spec: { capacity: { storage } } };
      volumes.written(await client.patch<Volume>(PERSISTENT_VOLUMES, { name }, { type: 'merge', body }, { signal }));
    }
    const { namespace, name: claimName, uid } = claim.metadata;
    const patch = {
      type: 'merge' as const,
      body: { metadata: { uid }, status: { capacity: { storage } } },
      subresource: 'status',
    };
    const place = { namespace, name: claimName };
    claims.written(await client.patch<Claim>(PERSISTENT_VOLUME_CLAIMS, place, patch, { signal }));
    this.#recordEvent(claim, 'VolumeResizeSuccessful', 'Resize volume succeeded');
  }

  #recordEvent(claim: Claim, reason: string, message: string): void {
    const type = reason === 'ProvisioningFailed' ? 'Warning' : 'Normal';
    const subject = subjectOf(PERSISTENT_VOLUME_CLAIMS, claim);
    this.#parts.events(DIRECTORY_PROVISIONER).event(subject, type, reason, message);
  }

  #isToProvision({ metadata, spec }: Claim): boolean {
    const { annotations = {}, deletionTimestamp } = metadata;
    return annotations[PROVISIONER] === DIRECTORY_PROVISIONER && deletionTimestamp === undefined && !spec.volumeName;
  }

  /** Whether the scheduler has selected a different node for the claim's pod. */
  #isElsewhere({ metadata }: Claim): boolean {
    const node = metadata.annotations?.[SELECTED_NODE];
    return node !== undefined && node !== this.#options.nodeName;
  }

  async syncVolume(name: string): Promise<void> {
    const { client, objects, signal } = this.#parts;
    const volumes = objects.of<Volume>(PERSISTENT_VOLUMES);
    const volume = volumes.get({ name });
    if (volume === undefined || !isDirectory(volume)) return;
    const { finalizers, isReclaimed } = decideDirectory(volume);
    if (isReclaimed) return this.#reclaim(volume);
    if (finalizers === undefined) return;
    const { resourceVersion } = volume.metadata;
    const body = { metadata: { resourceVersion, finalizers } };
    volumes.written(await client.patch<Volume>(PERSISTENT_VOLUMES, { name }, { type: 'merge', body }, { signal }));
  }

  /** Removes the files of a volume that no longer has a claim, and then the volume. */
  async #reclaim({ metadata }: Volume): Promise<void> {
    const { client, objects, signal } = this.#parts;
    const { name, uid = '' } = metadata;
    using ending = withTimeout(signal, REMOVAL_MS, `remove the directory of volume ${name}`);
    await this.#options.remove(join(this.#options.directory, name), ending);
    const unlessAbsent = (error: unknown) => {
      if (!isApiStatus(error, 404)) throw error;
      return undefined;
    };
    if (metadata.deletionTimestamp === undefined)
      await client.delete(PERSISTENT_VOLUMES, { name }, { preconditions: { uid } }, { signal }).catch(unlessAbsent);
    const present = await client.get<Volume>(PERSISTENT_VOLUMES, { name }, { signal }).catch(unlessAbsent);
    const { finalizers = [], resourceVersion } = present?.metadata ?? {};
    if (present?.metadata.uid === uid && finalizers.includes(DIRECTORY_FINALIZER)) {
      const others = finalizers.filter((one) => one !== DIRECTORY_FINALIZER);
      const body = { metadata: { uid, resourceVersion, finalizers: others } };
      await client.patch<Volume>(PERSISTENT_VOLUMES, { name }, { type: 'merge', body }, { signal }).catch(unlessAbsent);
    }
    objects.of<Volume>(PERSISTENT_VOLUMES).deleting({ name }, uid);
  }
}

/** Whether this provisioner must provision the claim now. Also checks the class, because users can set the annotations of claims. */
function isOurs({ provisioner, volumeBindingMode }: StorageClass, { metadata }: Claim): boolean {
  const isSelected = metadata.annotations?.[SELECTED_NODE] !== undefined;
  return provisioner === DIRECTORY_PROVISIONER && (isSelected || volumeBindingMode !== 'WaitForFirstConsumer');
}
