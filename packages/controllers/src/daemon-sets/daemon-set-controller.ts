import { isDeepStrictEqual } from 'node:util';
import { type EventRecorder, matchesLabelSelector, type Node, type Pod } from '@podwright/kube-api';
import { NODES, PODS } from '@podwright/kube-client';
import { everyCall, failureOf } from '../framework/calls.ts';
import type { Controller, ControllerParts } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import { placeOfText, placeText } from '../framework/object-place.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import { writeStatus } from '../framework/write-status.ts';
import { CONTROLLER_REVISIONS, type ControllerRevision } from '../objects/controller-revision.ts';
import { DAEMON_SETS, type DaemonSet } from '../objects/daemon-set.ts';
import { claimObjects } from '../pods/claim-objects.ts';
import { availableInMs, isReady } from '../pods/pod-state.ts';
import { inGrowingBatches, isNamespaceTerminating, PodWriter, subjectOf } from '../pods/pod-writer.ts';
import { wakeOwners } from '../pods/wake-owners.ts';
import { revisionsBeyond } from '../revisions/revision-data.ts';
import { type CurrentRevision, RevisionHistory } from '../revisions/revision-history.ts';
import { HASH_LABEL, newDaemonPod } from './daemon-pod.ts';
import { type DaemonSetView, viewOf } from './daemon-set-state.ts';
import { daemonSetStatus, isSameStatus } from './daemon-set-status.ts';
import { type DaemonDecision, decideDaemonPods } from './decide-daemon-pods.ts';
import { decideUpdate } from './decide-update.ts';
import { FailedPodDelays } from './failed-pod-delays.ts';

/** Maximum number of pods that one sync creates, and maximum number that it deletes (BurstReplicas). */
const MAX_BURST = 250;

/** Runs a pod of each DaemonSet on every eligible node. */
export const daemonSetController: Controller = async (parts) => {
  const { objects, logger, signal } = parts;
  const owners = objects.of<DaemonSet>(DAEMON_SETS);
  const owned = objects.of<Pod>(PODS);
  const nodes = objects.of<Node>(NODES);
  if (!(await untilSynced(owners, owned, nodes, objects.of(CONTROLLER_REVISIONS)))) return;
  const queue: WorkQueue = new WorkQueue({
    sync: (key) => sets.sync(key),
    failure: 'failed to sync a DaemonSet',
    logger,
    signal,
  });
  const sets = new DaemonSetSync(parts, (key, delayMs) => queue.addAfter(key, delayMs));
  const wake = (key: string) => queue.add(key);
  wakeOwners({ ownedBy: DAEMON_SETS, owners, owned, selectorOf: ({ spec }: DaemonSet) => spec.selector, wake });
  nodes.onChange(({ type, object, before }) => {
    if (type === 'MODIFIED' && isSameForPods(object, before)) return;
    for (const { metadata } of owners.list()) wake(placeText(metadata));
  });
  await queue.ended;
};

/** Whether a node change cannot affect the placement of pods: its labels and taints are the same. Nodes change every few seconds. */
function isSameForPods(node: Node, before: Node | undefined): boolean {
  const facts = (one: Node | undefined) => [one?.metadata.labels, one?.spec?.taints];
  return isDeepStrictEqual(facts(node), facts(before));
}

export class DaemonSetSync {
  readonly #parts: ControllerParts;
  readonly #again: (key: string, delayMs: number) => void;
  readonly #sets: ObjectCache<DaemonSet>;
  readonly #pods: ObjectCache<Pod>;
  readonly #nodes: ObjectCache<Node>;
  readonly #history: RevisionHistory;
  readonly #events: EventRecorder;
  readonly #writer: PodWriter;
  readonly #delays = new FailedPodDelays();

  /** `again` requests another sync of a DaemonSet after a delay in milliseconds. */
  constructor(parts: ControllerParts, again: (key: string, delayMs: number) => void) {
    this.#parts = parts;
    this.#again = again;
    this.#sets = parts.objects.of(DAEMON_SETS);
    this.#pods = parts.objects.of(PODS);
    this.#nodes = parts.objects.of(NODES);
    this.#history = new RevisionHistory({ ...parts, ownedBy: DAEMON_SETS, hashLabel: HASH_LABEL });
    this.#events = parts.events('daemonset-controller');
    this.#writer = new PodWriter({ ...parts, events: this.#events, ownedBy: DAEMON_SETS });
  }

  async sync(key: string): Promise<void> {
    const set = this.#sets.get(placeOfText(key));
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return;
    const { matchLabels = {}, matchExpressions = [] } = set.spec.selector;
    if (Object.keys(matchLabels).length + matchExpressions.length === 0) {
      const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
      this.#events.event(subjectOf(DAEMON_SETS, set), 'Warning', 'SelectingAll', message);
      return;
    }
    const history = await this.#history.current(set);
    await this.#claim(set);
    const failure = await failureOf(this.#manage(key, set, history));
    await this.#report(key, set, history);
    if (failure !== undefined) throw failure.error;
    await this.#truncate(set, history);
  }

  #claim(owner: DaemonSet): Promise<Pod[]> {
    const { client, objects, signal } = this.#parts;
    const { namespace, uid } = owner.metadata;
    return claimObjects<Pod>(
      { client, objects, signal, ownedBy: DAEMON_SETS, resource: PODS },
      { owner, selector: owner.spec.selector, objects: this.#pods.claimable(namespace, uid) },
    );
  }

  /**
   * Creates and deletes pods so that each eligible node runs one. If there is nothing to create or delete, continues with a rolling update.
   */
  async #manage(key: string, set: DaemonSet, { revision }: CurrentRevision): Promise<void> {
    const view = this.#view(set, revision);
    const { now } = this.#parts;
    const delayKey = (node: string) => `${set.metadata.uid}/${set.status?.observedGeneration ?? 0}/${node}`;
    const decision = decideDaemonPods(view, (node) => this.#delays.waitMs(delayKey(node), now()));
    for (const [type, reason, message] of decision.events)
      this.#events.event(subjectOf(DAEMON_SETS, set), type, reason, message);
    for (const node of decision.failedOn) this.#delays.failed(delayKey(node), now());
    if (decision.againInMs !== undefined) this.#again(key, decision.againInMs);
    const isSettled = decision.create.length + decision.delete.length === 0;
    await this.#act(view, isSettled ? decideUpdate(view) : decision);
  }

  async #act({ set, hash }: DaemonSetView, decision: Pick<DaemonDecision, 'create' | 'delete'>): Promise<void> {
    const create = decision.create.slice(0, MAX_BURST);
    const created = inGrowingBatches(create.length, (index) =>
      this.#writer.create(set, newDaemonPod(set, create[index]!, hash)),
    );
    const deleted = failureOf(everyCall(decision.delete.slice(0, MAX_BURST), (pod) => this.#writer.delete(set, pod)));
    const { error } = await created;
    const failure = await deleted;
    if (error !== undefined && !isNamespaceTerminating(error)) throw error;
    if (failure !== undefined) throw failure.error;
  }

  async #report(key: string, set: DaemonSet, { revision, collisionCount }: CurrentRevision): Promise<void> {
    const view = this.#view(set, revision);
    const { minReadySeconds = 0 } = set.spec;
    const waits = view.pods.filter(isReady).map((pod) => availableInMs(pod, minReadySeconds, view.nowMs));
    const nextMs = Math.min(...waits.filter((ms) => ms > 0));
    if (Number.isFinite(nextMs)) this.#again(key, nextMs);
    const status = daemonSetStatus(view, collisionCount);
    if (!isSameStatus(set.status, status)) await writeStatus<DaemonSet>(this.#parts, DAEMON_SETS, { ...set, status });
  }

  #view(set: DaemonSet, revision: ControllerRevision): DaemonSetView {
    const pods = this.#ownPods(set);
    return viewOf({ set, nodes: this.#nodes.list(), pods, hash: hashOf(revision), nowMs: this.#parts.now() });
  }

  #ownPods({ metadata: { namespace, uid }, spec }: DaemonSet): Pod[] {
    const owned = this.#pods.controlledBy(namespace, uid);
    return owned.filter(({ metadata }) => matchesLabelSelector(spec.selector, metadata.labels));
  }

  async #truncate(set: DaemonSet, { revision, all }: CurrentRevision): Promise<void> {
    const { revisionHistoryLimit = 10 } = set.spec;
    const inUse = new Set(this.#ownPods(set).map(({ metadata }) => metadata.labels?.[HASH_LABEL] ?? ''));
    const old = all.filter((one) => one !== revision);
    const isInUse = (one: ControllerRevision) => inUse.has(hashOf(one));
    const limit = revisionHistoryLimit - old.filter(isInUse).length; // old revisions in use count too, unlike those of a StatefulSet
    for (const one of revisionsBeyond(old, limit, isInUse)) await this.#history.delete(one);
  }
}

function hashOf({ metadata }: ControllerRevision): string {
  return metadata.labels?.[HASH_LABEL] ?? metadata.name;
}
