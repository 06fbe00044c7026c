/**
 * Random histories of a Deployment and its ReplicaSets: users, a kubelet, delayed watches, failed writes and killed processes.
 * `TEST_SEED=n` repeats one of them; `TEST_HISTORIES=n` sets how many are run.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime, type Pod } from '@podwright/kube-api';
import { PODS } from '@podwright/kube-client';
import { placeText } from '../framework/object-place.ts';
import { type Fault, SimProcess } from '../framework/sim-process.fixture.ts';
import { Random, SimServer } from '../framework/sim-server.fixture.ts';
import { DEPLOYMENTS, type Deployment } from '../objects/deployment.ts';
import { REPLICA_SETS, type ReplicaSet } from '../objects/replica-set.ts';
import { isActive, isEnded, isReady } from '../pods/pod-state.ts';
import { REPLICA_SET_KIND } from '../replica-sets/replica-kind.ts';
import { ReplicaSync } from '../replica-sets/replica-set-controller.ts';
import { type Changes, testDeployment } from './deployment.fixture.ts';
import { DeploymentSync } from './deployment-controller.ts';
import { maxSurge, sizeOf, totalSize, wantedReplicas } from './replica-counts.ts';

const { TEST_SEED, TEST_HISTORIES = '60' } = process.env;
const SEEDS =
  TEST_SEED === undefined
    ? Array.from({ length: Number(TEST_HISTORIES) }, (_, index) => index + 1)
    : [Number(TEST_SEED)];
const STEPS = 150;
const PLACE = { namespace: 'shop', name: 'web' };
const HISTORY_LIMIT = 2;

class History {
  readonly server: SimServer;
  readonly #process: SimProcess;
  readonly #random: Random;
  readonly #isScaled: boolean;
  /**
   * The largest number of pods that any version of the Deployment has allowed. Older versions count too, because a controller might act on
   * one.
   */
  #most = 0;
  #size = 0;
  /** The largest size that each ReplicaSet has had so far. */
  readonly #sizes = new Map<string, number>();

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.server = new SimServer(seed);
    this.#isScaled = this.#random.below(3) === 0;
    const { metadata, spec } = testDeployment({ spec: this.#spec() });
    this.server.put(DEPLOYMENTS, { metadata: { ...metadata, generation: 1 }, spec });
    this.server.onChange = () => this.#check();
    this.#check();
    this.#process = new SimProcess(this.server, DEPLOYMENTS, (parts, again) => {
      const deployments = new DeploymentSync(parts, again);
      const replicas = new ReplicaSync(parts, REPLICA_SET_KIND, (_key, delayMs) => again(placeText(PLACE), delayMs));
      const sets = parts.objects.of<ReplicaSet>(REPLICA_SETS);
      return async (key) => {
        await deployments.sync(key);
        for (const set of sets.list()) await replicas.sync(placeText(set.metadata));
      };
    });
    this.#process.nextFault = () => this.#fault();
  }

  #spec(): NonNullable<Changes['spec']> {
    const rollingUpdate = { maxSurge: this.#random.below(3), maxUnavailable: this.#random.below(3) };
    const isRecreated = this.#random.below(4) === 0;
    const strategy = isRecreated ? { type: 'Recreate' as const } : { type: 'RollingUpdate' as const, rollingUpdate };
    return { replicas: 1 + this.#random.below(5), revisionHistoryLimit: HISTORY_LIMIT, strategy };
  }

  get deployment(): Deployment {
    return this.server.get<Deployment>(DEPLOYMENTS, PLACE)!;
  }

  get sets(): ReplicaSet[] {
    return this.server.list<ReplicaSet>(REPLICA_SETS);
  }

  async step(): Promise<void> {
    const action = this.#random.below(20);
    if (action < 9) await this.#process.sync(placeText(PLACE));
    else if (action < 14) this.#process.deliver(1 + this.#random.below(3));
    else if (action < 18) this.#kubelet();
    else if (action < 19) this.server.nowMs += this.#random.below(5_000);
    else this.#edit();
  }

  /** Acts as a user: changes the image or, in some histories, the size. */
  #edit(): void {
    const image = `v${1 + this.#random.below(4)}`;
    const replicas = this.#random.below(6);
    const isSize = this.#isScaled && this.#random.below(2) === 0;
    this.server.change<Deployment>(DEPLOYMENTS, PLACE, ({ spec }) => {
      if (isSize) spec.replicas = replicas;
      else spec.template.spec.containers[0]!.image = image;
    });
  }

  /** Acts as the scheduler and kubelet: binds, starts, fails or removes a pod. Returns whether there was something to do. */
  #kubelet(isFaulty = true): boolean {
    const isOver = (pod: Pod) => isEnded(pod) && pod.metadata.deletionTimestamp === undefined;
    const pods = this.server.list<Pod>(PODS).filter((pod) => !isOver(pod));
    const waiting = pods.filter((pod) => pod.metadata.deletionTimestamp !== undefined || !isReady(pod));
    const pod = this.#random.pick(isFaulty && this.#random.below(4) === 0 ? pods : waiting);
    if (pod === undefined) return false;
    const { name, namespace, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined) this.server.end(PODS, { namespace, name });
    else this.server.change<Pod>(PODS, { namespace, name }, (changed) => this.#progress(changed));
    return true;
  }

  #progress(pod: Pod): void {
    const breaks = isReady(pod);
    const status = breaks ? ('False' as const) : ('True' as const);
    if (pod.spec.nodeName === undefined) pod.spec.nodeName = 'n1';
    else if (breaks && this.#random.below(4) === 0) pod.status!.phase = 'Failed';
    else {
      const lastTransitionTime = formatTime(this.server.nowMs);
      pod.status = { phase: 'Running', conditions: [{ type: 'Ready', status, lastTransitionTime }] };
    }
  }

  #fault(): Fault {
    const faults: Fault[] = ['refused', 'conflict', 'lost', 'killed'];
    return this.#random.below(10) === 0 ? this.#random.pick(faults)! : 'none';
  }

  #check(): void {
    const { deployment, sets } = this;
    this.#most = Math.max(this.#most, wantedReplicas(deployment) + maxSurge(deployment));
    const size = totalSize(sets);
    if (size > this.#size) assert.ok(size <= this.#most, `the ReplicaSets have ${size} of at most ${this.#most} pods`);
    this.#size = size;
    const templates = sets.map(({ spec }) => spec.template.spec.containers[0]!.image);
    assert.equal(new Set(templates).size, templates.length, 'a template has two ReplicaSets');
    const pods = this.server.list<Pod>(PODS).filter(isActive);
    for (const set of sets) {
      const { uid } = set.metadata;
      this.#sizes.set(uid, Math.max(this.#sizes.get(uid) ?? 0, sizeOf(set)));
      const own = pods.filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid);
      assert.ok(own.length <= this.#sizes.get(uid)!, `${own.length} pods of a ReplicaSet of ${this.#sizes.get(uid)}`);
    }
  }

  /** Ends the simulation: lets all parties act without faults until nothing is left to do, and asserts that the rollout is complete. */
  async end(): Promise<void> {
    await this.#process.settle(() => this.#kubelet(false));
    const { deployment, sets } = this;
    const wanted = wantedReplicas(deployment);
    const pods = this.server.list<Pod>(PODS).filter(isActive);
    const { image } = deployment.spec.template.spec.containers[0]!;
    assert.equal(pods.length, wanted, 'the number of pods');
    assert.ok(pods.every(({ spec }) => spec.containers[0]!.image === image));
    assert.ok(sets.length <= HISTORY_LIMIT + 1, `${sets.length} ReplicaSets`);
    const { updatedReplicas, availableReplicas, replicas, observedGeneration, conditions = [] } = deployment.status!;
    assert.deepEqual([updatedReplicas, availableReplicas, replicas], [wanted, wanted, wanted]);
    assert.equal(observedGeneration, deployment.metadata.generation);
    assert.equal(conditions.find(({ type }) => type === 'Progressing')?.reason, 'NewReplicaSetAvailable');
  }
}

test(`Deployments keep their bounds and end with the wanted pods after any faults (${SEEDS.length} histories)`, async () => {
  for (const seed of SEEDS) {
    const history = new History(seed);
    try {
      for (let step = 0; step < STEPS; step++) await history.step();
      await history.end();
    } catch (error) {
      throw new Error(`TEST_SEED=${seed}`, { cause: error });
    }
  }
});
