import { type EventRecorder, matchesLabelSelector, type Pod } from '@podwright/kube-api';
import { apiMessage, PODS } from '@podwright/kube-client';
import { settledCalls } from '../framework/calls.ts';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import { placeOfText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import { writeStatus } from '../framework/write-status.ts';
import type { ReplicaSet } from '../objects/replica-set.ts';
import { claimObjects } from '../pods/claim-objects.ts';
import { controllerOf, controllerReference } from '../pods/controller-reference.ts';
import { availableInMs, isActive, isReady, isTerminating } from '../pods/pod-state.ts';
import { podFromTemplate } from '../pods/pod-template.ts';
import { inGrowingBatches, isNamespaceTerminating, PodWriter, subjectOf } from '../pods/pod-writer.ts';
import { ReplacementDelays } from '../pods/replacement-delays.ts';
import { wakeOwners } from '../pods/wake-owners.ts';
import { decideReplicas } from './decide-replicas.ts';
import { REPLICA_SET_KIND, REPLICATION_CONTROLLER_KIND, type ReplicaKind } from './replica-kind.ts';
import { isSameStatus, replicaSetStatus } from './replica-set-status.ts';

/** Maintains the number of pods of ReplicaSets. */
export const replicaSetController: Controller = (parts) => runReplicas(parts, REPLICA_SET_KIND);

/** Maintains the number of pods of ReplicationControllers. */
export const replicationController: Controller = (parts) => runReplicas(parts, REPLICATION_CONTROLLER_KIND);

async function runReplicas(parts: ControllerParts, kind: ReplicaKind): Promise<void> {
  const { objects, logger, signal } = parts;
  const { resource: ownedBy, selectorOf } = kind;
  const owners = objects.of<ReplicaSet>(ownedBy);
  const owned = objects.of<Pod>(PODS);
  const failure = `failed to sync a ${ownedBy.kind}`;
  const queue = new WorkQueue({ sync: (key) => replicas.sync(key), failure, logger, signal });
  const replicas = new ReplicaSync(parts, kind, (key, delayMs) => queue.addAfter(key, delayMs));
  if (!(await untilSynced(owners, owned))) return;
  wakeOwners({ ownedBy, owners, owned, selectorOf, wake: (key) => queue.add(key) });
  await queue.ended;
}

/** Reconciles one ReplicaSet or ReplicationController at a time. */
export class ReplicaSync {
  readonly #parts: ControllerParts;
  readonly #kind: ReplicaKind;
  readonly #again: (key: string, delayMs: number) => void;
  readonly #sets: ObjectCache<ReplicaSet>;
  readonly #pods: ObjectCache<Pod>;
  readonly #events: EventRecorder;
  readonly #delays = new ReplacementDelays();

  /** `again` requests another sync of an object after a delay in milliseconds. */
  constructor(parts: ControllerParts, kind: ReplicaKind, again: (key: string, delayMs: number) => void) {
    this.#parts = parts;
    this.#kind = kind;
    this.#again = again;
    this.#sets = parts.objects.of(kind.resource);
    this.#pods = parts.objects.of(PODS);
    this.#events = parts.events(kind.component);
  }

  /** Creates or deletes the set's pods, and writes its status. Rejects if a write fails. */
  async sync(key: string): Promise<void> {
    const replicaSet = this.#sets.get(placeOfText(key));
    if (replicaSet === undefined) return;
    const pods = await this.#claim(replicaSet);
    const error = await this.#manage(key, replicaSet, pods.filter(isActive));
    await this.#report(key, error);
    if (error !== undefined) throw error;
  }

  /** Adopts and releases pods. Returns the set's active pods (neither in a terminal phase nor being deleted). */
  async #claim(owner: ReplicaSet): Promise<Pod[]> {
    const { client, objects, signal } = this.#parts;
    const { resource: ownedBy, selectorOf } = this.#kind;
    const { namespace, uid } = owner.metadata;
    return claimObjects<Pod>(
      { client, objects, signal, ownedBy, resource: PODS },
      {
        owner,
        selector: selectorOf(owner),
        objects: this.#pods.claimable(namespace, uid).filter(isActive),
      },
    );
  }

  async #manage(key: string, owner: ReplicaSet, active: Pod[]): Promise<unknown> {
    const { client, objects, now, signal } = this.#parts;
    const { resource: ownedBy } = this.#kind;
    const action = decideReplicas({
      wanted: owner.spec.replicas ?? 1,
      isDeleting: owner.metadata.deletionTimestamp !== undefined,
      active,
      related: this.#related(owner),
      nowMs: now(),
    });
    const writer = new PodWriter({ client, objects, signal, events: this.#events, ownedBy });
    const reference = controllerReference(ownedBy, owner);
    if (action.type === 'create') {
      if (this.#waitsAfterFailure(key, owner)) return undefined;
      const create = () => writer.create(owner, podFromTemplate(owner.spec.template, reference, owner.metadata.name));
      const { error } = await inGrowingBatches(action.count, create);
      return isNamespaceTerminating(error) ? undefined : error; // no pod can be created there any longer
    }
    if (action.type === 'none') return undefined;
    const results = await settledCalls(action.pods, (pod) => writer.delete(owner, pod));
    return results.find((result) => result.status === 'rejected')?.reason;
  }

  /** Whether replacements of failed pods must wait for a backoff. Upstream has none, and keeps creating pods that fail again. */
  #waitsAfterFailure(key: string, owner: ReplicaSet): boolean {
    const { namespace, uid, generation = 0 } = owner.metadata;
    const failed = this.#pods.controlledBy(namespace, uid).filter(({ status }) => status?.phase === 'Failed');
    const uids = failed.map(({ metadata }) => metadata.uid);
    const waitMs = this.#delays.take(`${uid}/${generation}`, uids, this.#parts.now());
    if (waitMs === 0) return false;
    this.#again(key, waitMs);
    const { metadata, status } = failed.at(-1)!;
    const why = [status?.reason, status?.message].filter(Boolean).join(': ');
    const message = `Pod ${metadata.name} has failed${why === '' ? '' : ` (${why})`}. Failed pods are replaced after growing delays`;
    this.#events.event(subjectOf(this.#kind.resource, owner), 'Warning', 'BackOff', message);
    return true;
  }

  /** Returns the pods of all ReplicaSets that have the same controller as this one, or none if it has no controller. */
  #related(owner: ReplicaSet): Pod[] {
    const controller = controllerOf(owner);
    const { namespace } = owner.metadata;
    const siblings = controller === undefined ? [] : this.#sets.controlledBy(namespace, controller.uid);
    return siblings.flatMap(({ metadata: { uid } }) => this.#pods.controlledBy(namespace, uid));
  }

  /** Writes the status if it has changed. Requeues the set for when its next ready pod becomes available. */
  async #report(key: string, error: unknown): Promise<void> {
    const replicaSet = this.#sets.get(placeOfText(key));
    if (replicaSet === undefined) return;
    const nowMs = this.#parts.now();
    const { resource, countsTerminating, selectorOf } = this.#kind;
    const selector = selectorOf(replicaSet);
    const own = this.#pods
      .controlledBy(replicaSet.metadata.namespace, replicaSet.metadata.uid)
      .filter(({ metadata }) => matchesLabelSelector(selector, metadata.labels));
    const active = own.filter(isActive);
    const terminating = countsTerminating ? own.filter(isTerminating).length : undefined;
    const failure = error === undefined ? undefined : apiMessage(error);
    const status = replicaSetStatus({ replicaSet, active, terminating, failure, nowMs });
    const { minReadySeconds = 0 } = replicaSet.spec;
    const waits = active.map((pod) => (isReady(pod) ? availableInMs(pod, minReadySeconds, nowMs) : 0));
    const waitMs = Math.min(...waits.filter((ms) => ms > 0));
    if (Number.isFinite(waitMs)) this.#again(key, waitMs);
    if (!isSameStatus(replicaSet.status, status)) await writeStatus(this.#parts, resource, { ...replicaSet, status });
  }
}
