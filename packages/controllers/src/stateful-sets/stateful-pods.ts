/** Creates, deletes and repairs the pods and claims of StatefulSets, with upstream's events (stateful_pod_control.go). */
import type { EventRecorder, KubeObject, Pod } from '@podwright/kube-api';
import { apiMessage, isApiStatus, PERSISTENT_VOLUME_CLAIMS, PODS } from '@podwright/kube-client';
import { everyCall } from '../framework/calls.ts';
import type { ControllerParts } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import { ordinalsOf, STATEFUL_SETS, type StatefulSet } from '../objects/stateful-set.ts';
import { subjectOf } from '../pods/pod-writer.ts';
import { changedOwners, hasForeignController } from './claim-owners.ts';
import type { StatefulSetAction } from './decide-stateful-set.ts';
import { claimName, newClaims, ordinalOf, repairedPod } from './pod-identity.ts';

type Verb = 'Create' | 'Update' | 'Delete';

export class StatefulPods {
  readonly #parts: ControllerParts;
  readonly #events: EventRecorder;
  readonly #pods: ObjectCache<Pod>;
  readonly #claims: ObjectCache<KubeObject>;

  constructor(parts: ControllerParts, events: EventRecorder) {
    this.#parts = parts;
    this.#events = events;
    this.#pods = parts.objects.of(PODS);
    this.#claims = parts.objects.of(PERSISTENT_VOLUME_CLAIMS);
  }

  act(set: StatefulSet, action: StatefulSetAction): Promise<void> {
    if (action.type === 'create') return this.#create(set, action);
    if (action.type === 'delete') return this.#delete(set, action.pod);
    return this.#repair(set, action);
  }

  async #create(set: StatefulSet, { pod, ordinal }: StatefulSetAction & { type: 'create' }): Promise<void> {
    const { client, signal } = this.#parts;
    const { name } = pod.metadata;
    await this.#recorded(set, 'Create', name, async () => {
      await this.#createClaims(set, ordinal);
      const body = { ...pod, metadata: { ...pod.metadata, namespace: set.metadata.namespace } };
      const created = await client.create<Pod>(PODS, body, { signal });
      this.#pods.written(created);
      await this.#correctOwners(set, created);
    });
  }

  async #delete(set: StatefulSet, { metadata: { namespace, name, uid } }: Pod): Promise<void> {
    const { client, signal } = this.#parts;
    await this.#recorded(set, 'Delete', name, async () => {
      try {
        await client.delete(PODS, { namespace, name }, { preconditions: { uid } }, { signal });
        this.#pods.deleting({ namespace, name }, uid);
      } catch (error) {
        if (!isApiStatus(error, 404)) throw error;
      }
    });
  }

  async #repair(set: StatefulSet, { pod, createsClaims }: StatefulSetAction & { type: 'repair' }): Promise<void> {
    const { client, signal } = this.#parts;
    const { start, end } = ordinalsOf(set);
    const ordinal = ordinalOf(set, pod)!;
    const isInRange = ordinal >= start && ordinal < end;
    const repaired = isInRange ? repairedPod(set, pod) : undefined;
    if (createsClaims || repaired !== undefined) await this.#createClaims(set, ordinal);
    const hasCorrected = await this.#correctOwners(set, pod);
    if (repaired === undefined && !(hasCorrected && isInRange)) return;
    await this.#recorded(set, 'Update', pod.metadata.name, async () => {
      if (repaired === undefined) return; // upstream reports a correction of the claims as an update of the pod
      const body = { ...repaired, apiVersion: 'v1' as const, kind: 'Pod' as const };
      this.#pods.written(await client.update<Pod>(PODS, body, { signal }));
    });
  }

  /** Creates the missing claims of an ordinal. Rejects if one of them is being deleted, because the pod has to wait for that. */
  async #createClaims(set: StatefulSet, ordinal: number): Promise<void> {
    const { client, signal } = this.#parts;
    const create = async (claim: KubeObject & { metadata: { name: string } }) => {
      const { namespace, name } = claim.metadata;
      const known = this.#claims.get({ namespace, name });
      if (known?.metadata.deletionTimestamp !== undefined) throw new Error(`pvc ${name} is being deleted`);
      if (known !== undefined) return;
      const of = `Claim ${name}`;
      const pod = `${set.metadata.name}-${ordinal}`;
      try {
        this.#claims.written(await client.create(PERSISTENT_VOLUME_CLAIMS, claim, { signal }));
      } catch (error) {
        if (isApiStatus(error, 'AlreadyExists')) throw error;
        const message = `Create ${of} for Pod ${pod} in StatefulSet ${set.metadata.name} failed error: ${apiMessage(error)}`;
        this.#record(set, 'Warning', ['FailedCreate', message]);
        throw new Error(`failed to create PVC ${name}: ${apiMessage(error)}`, { cause: error });
      }
      const message = `Create ${of} Pod ${pod} in StatefulSet ${set.metadata.name} success`;
      this.#record(set, 'Normal', ['SuccessfulCreate', message]);
    };
    await everyCall(newClaims(set, ordinal), create);
  }

  /** Sets the owners of the pod's claims according to the retention policy. Returns whether any have changed. */
  async #correctOwners(set: StatefulSet, pod: Pod): Promise<boolean> {
    const { client, signal } = this.#parts;
    const { start, end } = ordinalsOf(set);
    const ordinal = ordinalOf(set, pod)!;
    let hasCorrected = false;
    for (const template of set.spec.volumeClaimTemplates ?? []) {
      const name = claimName(set, template, ordinal);
      const claim = this.#claims.get({ namespace: set.metadata.namespace, name });
      if (claim === undefined) continue;
      const input = { claim, set, pod, isCondemned: ordinal < start || ordinal >= end };
      const ownerReferences = changedOwners(input);
      if (ownerReferences === undefined) continue;
      if (hasForeignController(input)) {
        const text = 'has a conflicting OwnerReference that acts as a manging controller';
        const message = `PersistentVolumeClaim ${name} ${text}, the retention policy is ignored for this claim`;
        this.#record(set, 'Warning', ['ConflictingController', message]);
      }
      const metadata = { ...claim.metadata, ownerReferences };
      const body = { ...claim, apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata };
      this.#claims.written(await client.update(PERSISTENT_VOLUME_CLAIMS, body, { signal }));
      hasCorrected = true;
    }
    return hasCorrected;
  }

  /** Records the success or failure of an action on a pod as an event. Conflicts, such as a pod that already exists, are not recorded. */
  async #recorded(set: StatefulSet, verb: Verb, ...[name, act]: [string, () => Promise<void>]): Promise<void> {
    const what = `${verb} Pod ${name} in StatefulSet ${set.metadata.name}`;
    try {
      await act();
    } catch (error) {
      if (!isApiStatus(error, 409))
        this.#record(set, 'Warning', [`Failed${verb}`, `${what} failed error: ${apiMessage(error)}`]);
      throw error;
    }
    this.#record(set, 'Normal', [`Successful${verb}`, `${what} successful`]);
  }

  #record(set: StatefulSet, type: 'Normal' | 'Warning', [reason, message]: [string, string]): void {
    this.#events.event(subjectOf(STATEFUL_SETS, set), type, reason, message);
  }
}
