/**
 * Simulates random histories of StatefulSets: scaling, updates, rollbacks, failing pods, delayed watches, failed writes and killed
 * processes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, Pod } from '@podwright/kube-api';
import { PERSISTENT_VOLUME_CLAIMS, PODS } from '@podwright/kube-client';
import { SimKubelet } from '../framework/sim-kubelet.fixture.ts';
import { type Fault, SimProcess } from '../framework/sim-process.fixture.ts';
import { Random, SimServer } from '../framework/sim-server.fixture.ts';
import { CONTROLLER_REVISIONS } from '../objects/controller-revision.ts';
import { ordinalsOf, STATEFUL_SETS, type StatefulSet, type StatefulSetSpec } from '../objects/stateful-set.ts';
import { ordinalOf, revisionOf } from './pod-identity.ts';
import { CLAIM_TEMPLATE, newStatefulSet } from './stateful-set.fixture.ts';
import { StatefulSetSync } from './stateful-set-controller.ts';

const HISTORIES = 100;
const STEPS = 150;
const PLACE = { namespace: 'shop', name: 'db' };

class History {
  readonly server: SimServer;
  readonly process: SimProcess;
  readonly kubelet: SimKubelet;
  readonly #random: Random;
  #known = new Map<string, Pod>();

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.server = new SimServer(seed);
    this.kubelet = new SimKubelet(this.server);
    this.server.put(STATEFUL_SETS, newStatefulSet(randomSpec(this.#random)));
    this.server.onChange = () => this.#check();
    this.process = new SimProcess(this.server, STATEFUL_SETS, (parts, again) => {
      const sets = new StatefulSetSync(parts, again);
      return (key) => sets.sync(key);
    });
    const faults: Fault[] = ['refused', 'conflict', 'lost', 'killed'];
    this.process.nextFault = () => (this.#random.below(10) === 0 ? this.#random.pick(faults)! : 'none');
    this.kubelet.failures = 5;
  }

  get set(): StatefulSet {
    return this.server.get<StatefulSet>(STATEFUL_SETS, PLACE)!;
  }

  async step(): Promise<void> {
    const action = this.#random.below(20);
    if (action < 8) await this.process.sync('shop/db');
    else if (action < 13) this.process.deliver(1 + this.#random.below(3));
    else if (action < 18) this.kubelet.step();
    else if (action === 18) this.server.nowMs += this.#random.below(10_000);
    else if (this.#random.below(3) === 0) this.#change();
  }

  #change(): void {
    this.server.change<StatefulSet>(STATEFUL_SETS, PLACE, ({ spec }) => {
      if (this.#random.below(2) === 0) spec.replicas = this.#random.below(5);
      else spec.template.spec.containers[0]!.image = `db:${this.#random.below(4)}`;
    });
  }

  /**
   * Asserts that no name is used by two pods at a time and, in an ordered StatefulSet, that a pod is created only while all pods with lower
   * ordinals are running and ready.
   */
  #check(): void {
    const { set } = this;
    const pods = this.server.list<Pod>(PODS);
    const { start } = ordinalsOf(set);
    for (const pod of pods) {
      if (this.#known.has(pod.metadata.uid) || set.spec.podManagementPolicy === 'Parallel') continue;
      const ordinal = ordinalOf(set, pod)!;
      for (let earlier = start; earlier < ordinal; earlier++)
        assert.ok(
          pods.some((one) => ordinalOf(set, one) === earlier),
          `db-${ordinal} is created without db-${earlier}`,
        );
    }
    this.#known = new Map(pods.map((pod) => [pod.metadata.uid, pod]));
  }

  async end(): Promise<void> {
    this.kubelet.failures = 0;
    this.process.nextFault = () => 'none';
    await this.process.settle(() => this.#collectGarbage() || this.kubelet.step());
  }

  #collectGarbage(): boolean {
    const uids = new Set(this.server.list<Pod>(PODS).map(({ metadata }) => metadata.uid));
    const claim = this.server
      .list<KubeObject>(PERSISTENT_VOLUME_CLAIMS)
      .find(({ metadata }) => metadata.ownerReferences?.some(({ kind, uid }) => kind === 'Pod' && !uids.has(uid)));
    if (claim === undefined) return false;
    this.server.end(PERSISTENT_VOLUME_CLAIMS, { namespace: 'shop', name: claim.metadata.name! });
    return true;
  }
}

function randomSpec(random: Random): Partial<StatefulSetSpec> {
  return {
    replicas: random.below(5),
    podManagementPolicy: random.below(2) === 0 ? 'OrderedReady' : 'Parallel',
    ordinals: { start: random.below(2) * 3 },
    minReadySeconds: random.below(2) * 5,
    updateStrategy: {
      type: 'RollingUpdate',
      rollingUpdate: { partition: 0, ...(random.below(2) === 0 ? { maxUnavailable: 2 } : {}) },
    },
    volumeClaimTemplates: [CLAIM_TEMPLATE],
    persistentVolumeClaimRetentionPolicy: {
      whenDeleted: random.below(2) === 0 ? 'Retain' : 'Delete',
      whenScaled: random.below(2) === 0 ? 'Retain' : 'Delete',
    },
  };
}

async function run(seed: number): Promise<void> {
  const history = new History(seed);
  for (let step = 0; step < STEPS; step++) await history.step();
  await history.end();
  const { set, server } = history;
  const { start, end } = ordinalsOf(set);
  const names = Array.from({ length: end - start }, (_, index) => `db-${start + index}`);
  const pods = server.list<Pod>(PODS);
  assert.deepEqual(pods.map(({ metadata }) => metadata.name).sort(), names);
  const { updateRevision = '', currentRevision, ...status } = set.status ?? {};
  assert.ok(
    pods.every(
      (pod) =>
        revisionOf(pod) === updateRevision &&
        pod.spec.containers[0]!.image === set.spec.template.spec.containers[0]!.image,
    ),
  );
  assert.equal(currentRevision, updateRevision);
  const count = end - start;
  assert.deepEqual(
    [status.replicas, status.readyReplicas, status.availableReplicas, status.updatedReplicas],
    [count, count, count, count],
  );
  assert.ok(server.list(CONTROLLER_REVISIONS).length <= 1 + set.spec.revisionHistoryLimit!);
  const claims = server.list(PERSISTENT_VOLUME_CLAIMS).map(({ metadata }) => metadata.name!);
  assert.ok(names.every((name) => claims.includes(`data-${name}`)));
  if (set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled === 'Delete') assert.equal(claims.length, count);
}

test('the set eventually has its pods, despite failures and process exits', async () => {
  const first = Number(process.env.SIM_SEED ?? 1);
  const count = process.env.SIM_SEED === undefined ? HISTORIES : 1;
  for (let seed = first; seed < first + count; seed++)
    await run(seed).catch((error: unknown) => {
      throw new Error(`seed ${seed}`, { cause: error });
    });
});
