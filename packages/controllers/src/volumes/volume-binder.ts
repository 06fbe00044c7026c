import { type EventRecorder, storageClassOf } from '@podwright/kube-api';
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES } from '@podwright/kube-client';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import type { Claim, StorageClass, Volume } from '../objects/storage.ts';
import { subjectOf } from '../pods/pod-writer.ts';
import {
  BETA_PROVISIONER,
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  decideClaim,
  defaultClassOf,
  PROVISIONER,
  volumePhase,
} from './decide-claim.ts';

/** Binds claims to volumes, and requests the missing ones from provisioners, as upstream's persistent volume controller does. */
export const volumeBinder: Controller = async (parts) => {
  const { objects, logger, signal } = parts;
  const claims = objects.of<Claim>(PERSISTENT_VOLUME_CLAIMS);
  const volumes = objects.of<Volume>(PERSISTENT_VOLUMES);
  const classes = objects.of<StorageClass>(STORAGE_CLASSES);
  if (!(await untilSynced(claims, volumes, classes))) return;
  const binder = new VolumeBinder(parts);
  const queue = new WorkQueue({
    sync: (key) => (key.startsWith('/') ? binder.syncVolume(key.slice(1)) : binder.syncClaim(key)),
    failure: 'failed to bind a volume',
    logger,
    signal,
  });
  const unbound = () => {
    for (const claim of claims.list()) if (claim.status?.phase !== 'Bound') queue.add(placeText(claim.metadata));
  };
  claims.onChange(({ object: { metadata, spec } }) => {
    queue.add(placeText(metadata));
    if (spec.volumeName) queue.add(`/${spec.volumeName}`);
    for (const volume of volumes.list())
      if (volume.spec.claimRef?.uid === metadata.uid) queue.add(`/${volume.metadata.name}`);
  });
  volumes.onChange(({ object: { metadata, spec } }) => {
    queue.add(`/${metadata.name}`);
    const { namespace, name } = spec.claimRef ?? {};
    if (namespace !== undefined && name !== undefined) queue.add(placeText({ namespace, name }));
    else unbound();
  });
  classes.onChange(unbound);
  await queue.ended;
};

class VolumeBinder {
  readonly #parts: ControllerParts;
  readonly #events: EventRecorder;
  /** UID and last reported reason of each claim waiting for a volume, by namespace and name. A reason is reported only when it changes. */
  readonly #reported = new Map<string, string>();

  constructor(parts: ControllerParts) {
    this.#parts = parts;
    this.#events = parts.events('persistentvolume-controller');
  }

  async syncClaim(key: string): Promise<void> {
    const { objects } = this.#parts;
    const claim = objects.of<Claim>(PERSISTENT_VOLUME_CLAIMS).get(placeOfText(key));
    if (claim === undefined) this.#reported.delete(key);
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return;
    const classes = objects.of<StorageClass>(STORAGE_CLASSES);
    const decision = decideClaim(claim, {
      volumes: objects.of<Volume>(PERSISTENT_VOLUMES).list(),
      storageClass: classes.get({ name: storageClassOf(claim) }),
      defaultClass: defaultClassOf(classes.list()),
    });
    if (decision.type === 'bind' || decision.type === 'bound') return this.#bind(claim, decision.volume);
    if (decision.type === 'provision') return this.#provision(claim, decision.provisioner);
    if (decision.type === 'assign') return this.#assign(claim, decision.storageClassName);
    if (decision.type === 'lost') {
      this.#report(claim, 'Warning', decision);
      return this.#setStatus(claim, { phase: 'Lost' });
    }
    this.#report(claim, decision.event, decision);
    await this.#setStatus(claim, { phase: 'Pending' });
  }

  async syncVolume(name: string): Promise<void> {
    const { client, objects, signal } = this.#parts;
    const volumes = objects.of<Volume>(PERSISTENT_VOLUMES);
    const volume = volumes.get({ name });
    // set the phase even of a volume being deleted, because the volume remains as long as it is bound
    if (volume === undefined) return;
    const { namespace, name: claimName = '' } = volume.spec.claimRef ?? {};
    const claim = objects.of<Claim>(PERSISTENT_VOLUME_CLAIMS).get({ namespace, name: claimName });
    const phase = volumePhase(volume, claim);
    if (volume.status?.phase === phase) return;
    const body = { metadata: { uid: volume.metadata.uid }, status: { phase } };
    const patch = { type: 'merge' as const, body, subresource: 'status' };
    volumes.written(await client.patch<Volume>(PERSISTENT_VOLUMES, { name }, patch, { signal }));
  }

  /** Binds a claim to a volume. Writes the volume first, so that a bound claim always has a volume that refers to it. */
  async #bind(claim: Claim, volume: Volume): Promise<void> {
    const { client, objects, signal } = this.#parts;
    const { namespace, name, uid } = claim.metadata;
    const volumeName = volume.metadata.name;
    if (volume.spec.claimRef?.uid !== uid) {
      const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid };
      const isReserved = volume.spec.claimRef !== undefined;
      const annotations = isReserved ? undefined : { [BOUND_BY_CONTROLLER]: 'yes' };
      const { resourceVersion } = volume.metadata;
      const body = { metadata: { resourceVersion, annotations }, spec: { claimRef } };
      const place = { name: volumeName };
      const written = await client.patch<Volume>(PERSISTENT_VOLUMES, place, { type: 'merge', body }, { signal });
      objects.of<Volume>(PERSISTENT_VOLUMES).written(written);
    }
    let bound = claim;
    if (claim.spec.volumeName !== volumeName || claim.metadata.annotations?.[BIND_COMPLETED] !== 'yes') {
      const isNamed = claim.spec.volumeName === volumeName;
      const annotations = { [BIND_COMPLETED]: 'yes', ...(!isNamed && { [BOUND_BY_CONTROLLER]: 'yes' }) };
      const { resourceVersion } = claim.metadata;
      const body = { metadata: { resourceVersion, annotations }, spec: { volumeName } };
      bound = await this.#patchClaim(claim, { type: 'merge', body });
    }
    const { accessModes = [], capacity = {} } = volume.spec;
    // a bound claim keeps its capacity, because the file system of an expanded volume may not have been resized yet
    const isNew = claim.status?.phase !== 'Bound';
    await this.#setStatus(bound, { phase: 'Bound', accessModes, capacity: isNew ? capacity : bound.status?.capacity });
    this.#reported.delete(placeText(claim.metadata));
  }

  async #provision(claim: Claim, provisioner: string): Promise<void> {
    const { annotations = {}, resourceVersion } = claim.metadata;
    const message =
      `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. ` +
      'If volume creation is delayed, please verify that the provisioner is running and correctly registered.';
    this.#report(claim, 'Normal', { reason: 'ExternalProvisioning', message });
    let asked = claim;
    if (annotations[PROVISIONER] !== provisioner) {
      const own = { [PROVISIONER]: provisioner, [BETA_PROVISIONER]: provisioner };
      asked = await this.#patchClaim(claim, {
        type: 'merge',
        body: { metadata: { resourceVersion, annotations: own } },
      });
    }
    await this.#setStatus(asked, { phase: 'Pending' });
  }

  /** Sets the claim's StorageClass. The claim is not requeued here, because its change triggers the next sync. */
  async #assign(claim: Claim, storageClassName: string): Promise<void> {
    const { resourceVersion } = claim.metadata;
    await this.#patchClaim(claim, {
      type: 'merge',
      body: { metadata: { resourceVersion }, spec: { storageClassName } },
    });
  }

  async #setStatus(claim: Claim, status: NonNullable<Claim['status']>): Promise<void> {
    const { phase, accessModes, capacity } = claim.status ?? {};
    const present: NonNullable<Claim['status']> =
      status.phase === 'Bound' ? { phase, accessModes, capacity } : { phase };
    if (JSON.stringify(present) === JSON.stringify(status)) return;
    await this.#patchClaim(claim, {
      type: 'merge',
      body: { metadata: { uid: claim.metadata.uid }, status },
      subresource: 'status',
    });
  }

  async #patchClaim(
    { metadata: { namespace, name } }: Claim,
    patch: { type: 'merge'; body: object; subresource?: string },
  ): Promise<Claim> {
    const { client, objects, signal } = this.#parts;
    const written = await client.patch<Claim>(PERSISTENT_VOLUME_CLAIMS, { namespace, name }, patch, { signal });
    objects.of<Claim>(PERSISTENT_VOLUME_CLAIMS).written(written);
    return written;
  }

  #report(claim: Claim, type: 'Normal' | 'Warning', { reason, message }: { reason: string; message: string }): void {
    const place = placeText(claim.metadata);
    const report = `${claim.metadata.uid} ${reason} ${message}`;
    if (this.#reported.get(place) === report) return;
    this.#reported.set(place, report);
    this.#events.event(subjectOf(PERSISTENT_VOLUME_CLAIMS, claim), type, reason, message);
  }
}
