import { EventLoopBudget } from '@podwright/base';
import { type EventRecorder, type KubeObject, matchesLabelSelector, type Pod } from '@podwright/kube-api';
import { PERSISTENT_VOLUME_CLAIMS, PODS } from '@podwright/kube-client';
import { failureOf } from '../framework/calls.ts';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import { writeStatus } from '../framework/write-status.ts';
import { CONTROLLER_REVISIONS, type ControllerRevision } from '../objects/controller-revision.ts';
import { STATEFUL_SETS, type StatefulSet } from '../objects/stateful-set.ts';
import { claimObjects } from '../pods/claim-objects.ts';
import { controllerOf } from '../pods/controller-reference.ts';
import { availableInMs, isReady } from '../pods/pod-state.ts';
import { inGrowingBatches } from '../pods/pod-writer.ts';
import { ReplacementDelays } from '../pods/replacement-delays.ts';
import { wakeOwners } from '../pods/wake-owners.ts';
import { revisionsBeyond, templateOf } from '../revisions/revision-data.ts';
import { type CurrentRevision, RevisionHistory } from '../revisions/revision-history.ts';
import { isStaleClaim } from './claim-owners.ts';
import { decideStatefulSet, type StatefulSetDecision } from './decide-stateful-set.ts';
import { claimName, hasClaim, ordinalOf, podName, revisionOf } from './pod-identity.ts';
import { StatefulPods } from './stateful-pods.ts';
import { isSameStatus, type StatusInput, statefulSetStatus } from './stateful-set-status.ts';

/** Maintains the pods of StatefulSets, with their names, claims and revisions. */
export const statefulSetController: Controller = async (parts) => {
  const { objects, logger, signal } = parts;
  const owners = objects.of<StatefulSet>(STATEFUL_SETS);
  const owned = objects.of<Pod>(PODS);
  const others = [objects.of(CONTROLLER_REVISIONS), objects.of(PERSISTENT_VOLUME_CLAIMS)];
  if (!(await untilSynced(owners, owned, ...others))) return;
  const queue: WorkQueue = new WorkQueue({
    sync: (key) => sets.sync(key),
    failure: 'failed to sync a StatefulSet',
    logger,
    signal,
  });
  const sets = new StatefulSetSync(parts, (key, delayMs) => queue.addAfter(key, delayMs));
  const wake = (key: string) => queue.add(key);
  wakeOwners({ ownedBy: STATEFUL_SETS, owners, owned, selectorOf: ({ spec }: StatefulSet) => spec.selector, wake });
  objects.of(PERSISTENT_VOLUME_CLAIMS).onChange(({ type, object: { metadata } }) => {
    if (type !== 'DELETED') return; // a pod may have waited for that
    for (const set of owners.list(metadata.namespace))
      if (hasClaim(set, metadata.name ?? '')) wake(placeText(set.metadata));
  });
  await queue.ended;
};

export class StatefulSetSync {
  readonly #parts: ControllerParts;
  readonly #again: (key: string, delayMs: number) => void;
  readonly #sets: ObjectCache<StatefulSet>;
  readonly #pods: ObjectCache<Pod>;
  readonly #claims: ObjectCache<KubeObject>;
  readonly #history: RevisionHistory;
  readonly #writer: StatefulPods;
  readonly #delays = new ReplacementDelays();

  /** `again` requests another sync of a set after a delay in milliseconds. */
  constructor(parts: ControllerParts, again: (key: string, delayMs: number) => void) {
    const events: EventRecorder = parts.events('statefulset-controller');
    this.#parts = parts;
    this.#again = again;
    this.#sets = parts.objects.of(STATEFUL_SETS);
    this.#pods = parts.objects.of(PODS);
    this.#claims = parts.objects.of(PERSISTENT_VOLUME_CLAIMS);
    const hashLabel = 'controller.kubernetes.io/hash';
    this.#history = new RevisionHistory({ ...parts, ownedBy: STATEFUL_SETS, hashLabel });
    this.#writer = new StatefulPods(parts, events);
  }

  async sync(key: string): Promise<void> {
    const set = this.#sets.get(placeOfText(key));
    if (set === undefined) return;
    if (set.metadata.deletionTimestamp !== undefined) return this.#reportDeleted(key, set);
    const history = await this.#history.current(set);
    const pods = await this.#claim(set);
    const current =
      history.all.find(({ metadata: { name } }) => name === set.status?.currentRevision) ?? history.revision;
    const decision = decideStatefulSet({
      set,
      pods,
      current: asRevision(set, current),
      update: asRevision(set, history.revision),
      hasStaleClaims: (ordinal) => this.#hasStaleClaims(set, ordinal),
      mayReplace: (pod) => this.#mayReplace(key, set, pod),
      nowMs: this.#parts.now(),
    });
    const failure = await failureOf(this.#act(set, decision));
    const own = this.#ownPods(set);
    const { collisionCount, revision: update } = history;
    await this.#report(key, set, { current: current.metadata.name, update: update.metadata.name, collisionCount });
    await this.#truncate(set, own, { current, history });
    if (failure !== undefined) throw failure.error;
  }

  #claim(owner: StatefulSet): Promise<Pod[]> {
    const { client, objects, signal } = this.#parts;
    const { namespace, uid } = owner.metadata;
    const isMember = (pod: Pod) => ordinalOf(owner, pod) !== undefined;
    const claimable = this.#pods
      .claimable(namespace, uid)
      .filter((pod) => controllerOf(pod) !== undefined || isMember(pod));
    return claimObjects<Pod>(
      { client, objects, signal, ownedBy: STATEFUL_SETS, resource: PODS },
      { owner, selector: owner.spec.selector, objects: claimable },
    );
  }

  #ownPods({ metadata: { namespace, uid }, spec }: StatefulSet): Pod[] {
    const owned = this.#pods.controlledBy(namespace, uid);
    return owned.filter(({ metadata }) => matchesLabelSelector(spec.selector, metadata.labels));
  }

  /** Whether a failed pod may be replaced now. Upstream does not wait, and keeps replacing a pod that fails again. */
  #mayReplace(key: string, { metadata: { uid, generation = 0 } }: StatefulSet, pod: Pod): boolean {
    const { name, uid: ended } = pod.metadata;
    const waitMs = this.#delays.take(`${uid}/${generation}/${name}`, [ended], this.#parts.now());
    if (waitMs > 0) this.#again(key, waitMs);
    return waitMs === 0;
  }

  #hasStaleClaims(set: StatefulSet, ordinal: number): boolean {
    const { namespace } = set.metadata;
    return (set.spec.volumeClaimTemplates ?? []).some((template) => {
      const claim = this.#claims.get({ namespace, name: claimName(set, template, ordinal) });
      return claim !== undefined && isStaleClaim(set, claim, podName(set, ordinal));
    });
  }

  async #act(set: StatefulSet, { phases, isOrdered }: StatefulSetDecision): Promise<void> {
    const budget = new EventLoopBudget();
    for (const actions of phases) {
      if (isOrdered) {
        for (const action of actions) {
          await this.#writer.act(set, action);
          if (budget.isSpent) await budget.renew();
        }
      } else {
        const { error } = await inGrowingBatches(actions.length, (index) => this.#writer.act(set, actions[index]!));
        if (error !== undefined) throw error;
      }
    }
  }

  /**
   * Writes the status of a set being deleted, which leaves its pods to the garbage collector. Takes the revisions from the existing status,
   * because their objects might already be gone.
   */
  #reportDeleted(key: string, set: StatefulSet): Promise<void> {
    const { currentRevision: current = '', updateRevision: update = '', collisionCount = 0 } = set.status ?? {};
    return this.#report(key, set, { current, update, collisionCount });
  }

  async #report(
    key: string,
    set: StatefulSet,
    revisions: Pick<StatusInput, 'current' | 'update' | 'collisionCount'>,
  ): Promise<void> {
    const nowMs = this.#parts.now();
    const pods = this.#ownPods(set);
    const { minReadySeconds = 0 } = set.spec;
    const waits = pods.filter(isReady).map((pod) => availableInMs(pod, minReadySeconds, nowMs));
    const nextMs = Math.min(...waits.filter((ms) => ms > 0));
    if (Number.isFinite(nextMs)) this.#again(key, nextMs);
    const status = statefulSetStatus({ set, pods, ...revisions, nowMs });
    if (!isSameStatus(set.status, status))
      await writeStatus<StatefulSet>(this.#parts, STATEFUL_SETS, { ...set, status });
  }

  async #truncate(
    { spec: { revisionHistoryLimit = 10 } }: StatefulSet,
    own: readonly Pod[],
    { current, history }: { current: ControllerRevision; history: CurrentRevision },
  ): Promise<void> {
    const inUse = new Set([current.metadata.name, history.revision.metadata.name, ...own.map(revisionOf)]);
    const beyond = revisionsBeyond(history.all, revisionHistoryLimit, ({ metadata }) => inUse.has(metadata.name));
    for (const revision of beyond) await this.#history.delete(revision);
  }
}

function asRevision(set: StatefulSet, revision: ControllerRevision) {
  return { revision: revision.metadata.name, template: templateOf(revision) ?? set.spec.template };
}
