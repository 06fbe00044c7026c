/**
 * Random rollouts: decisions are executed while pods become available and fail in any order. `TEST_SEED=n` repeats one of them;
 * `TEST_HISTORIES=n` sets how many are run.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deployment } from '../objects/deployment.ts';
import type { ReplicaSet } from '../objects/replica-set.ts';
import { createdStatus } from './creation-status.ts';
import { type DeploymentAction, decideDeployment } from './decide-deployment.ts';
import { NOW_MS, testDeployment } from './deployment.fixture.ts';
import { newReplicaSet } from './new-replica-set.ts';
import { maxSurge, maxUnavailable, sizeOf, totalOf, totalSize, wantedReplicas } from './replica-counts.ts';
import { withSizes } from './replica-set-annotations.ts';

const { TEST_SEED, TEST_HISTORIES = '300' } = process.env;
const SEEDS =
  TEST_SEED === undefined
    ? Array.from({ length: Number(TEST_HISTORIES) }, (_, index) => index + 1)
    : [Number(TEST_SEED)];
const STEPS = 60;
const REST_ROUNDS = 500;

class Rollout {
  readonly #random: () => number;
  deployment: Deployment;
  sets: ReplicaSet[] = [];
  /**
   * Whether enough pods were available after the last decision. If so, the next decision must not make more pods unavailable than the
   * Deployment allows.
   */
  #wasAvailable = false;
  #steps = 0;

  constructor(seed: number) {
    this.#random = randomOf(seed);
    const percent = this.#random() < 0.5;
    const bound = () => (percent ? `${this.#below(60)}%` : this.#below(4));
    const strategy = { type: 'RollingUpdate' as const, rollingUpdate: { maxSurge: bound(), maxUnavailable: bound() } };
    this.deployment = testDeployment({ spec: { replicas: 1 + this.#below(12), strategy } });
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  /** Performs a random action of a user, a pod or the controller. */
  step({ isFaulty }: { isFaulty: boolean }): boolean {
    const dice = this.#random();
    if (isFaulty && dice < 0.04) this.#edit({ image: `v${this.#below(4)}` });
    else if (isFaulty && dice < 0.06) this.#edit({ replicas: this.#below(12) });
    else if (dice < 0.5) this.#movePods(isFaulty && dice < 0.1);
    else return this.#decide();
    return true;
  }

  /** Runs the rollout without faults until nothing changes anymore, and asserts that it is complete. */
  rest(): void {
    let idle = 0;
    for (let round = 0; round < REST_ROUNDS && idle < 40; round++) {
      this.#movePods(false);
      idle = this.#decide() ? 0 : idle + 1;
    }
    const active = this.sets.filter((one) => sizeOf(one) > 0);
    const wanted = wantedReplicas(this.deployment);
    assert.equal(totalSize(active), wanted, 'the end has the wanted size');
    assert.equal(totalOf(this.sets, 'availableReplicas'), wanted, 'the end has the wanted pods');
    assert.ok(active.length <= 1, 'the end has one active ReplicaSet');
    const status = this.deployment.status!;
    assert.deepEqual([status.updatedReplicas, status.availableReplicas], [wanted, wanted]);
    assert.equal(status.conditions?.find(({ type }) => type === 'Progressing')?.reason, 'NewReplicaSetAvailable');
  }

  #edit(spec: { image?: string; replicas?: number }): void {
    const { replicas = wantedReplicas(this.deployment), image } = spec;
    const { metadata } = this.deployment;
    const changed = testDeployment({
      spec: { ...this.deployment.spec, replicas, ...(image === undefined ? {} : { image }) },
    });
    const template = image === undefined ? this.deployment.spec.template : changed.spec.template;
    this.deployment = {
      ...this.deployment,
      metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
      spec: { ...changed.spec, template },
    };
    this.#wasAvailable = false;
  }

  /**
   * Acts as the ReplicaSet controller and the kubelet: ReplicaSets reach their size, and some pods become available or, with `mayFail`,
   * unavailable.
   */
  #movePods(mayFail: boolean): void {
    this.sets = this.sets.map((one) => {
      const { availableReplicas: available = 0 } = one.status ?? {};
      const size = sizeOf(one);
      const left = mayFail && available > 0 ? available - 1 : available;
      const count = Math.min(size, left + this.#below(3));
      return {
        ...one,
        status: { ...one.status, replicas: size, availableReplicas: Math.min(count, size), observedGeneration: 1 },
      };
    });
    if (mayFail) this.#wasAvailable = false;
  }

  #decide(): boolean {
    const { deployment } = this;
    const actions = decideDeployment({ deployment, replicaSets: this.sets, podsOf: () => [], nowMs: NOW_MS });
    const before = JSON.stringify([this.deployment, this.sets]);
    for (const action of actions) this.#execute(action);
    this.#checkBounds(actions);
    return before !== JSON.stringify([this.deployment, this.sets]);
  }

  #execute(action: DeploymentAction): void {
    if (action.type === 'create') this.#create(action);
    else if (action.type === 'report') this.deployment = action.deployment;
    else if (action.type === 'update') this.#replace(action.replicaSet);
    else if (action.type === 'delete') this.sets = this.sets.filter((one) => one !== action.replicaSet);
    else if (action.type === 'scale') {
      const current = this.sets.find(({ metadata }) => metadata.uid === action.replicaSet.metadata.uid)!;
      assert.equal(sizeOf(current), action.from);
      assert.ok(action.to >= 0);
      const annotations = withSizes(this.deployment, current.metadata.annotations);
      this.#replace({
        ...current,
        metadata: { ...current.metadata, annotations },
        spec: { ...current.spec, replicas: action.to },
      });
    }
  }

  #create({ deployment, size, revision, oldSets }: Extract<DeploymentAction, { type: 'create' }>): void {
    const made = newReplicaSet(deployment, size, revision);
    const { name } = made.metadata;
    assert.ok(!this.sets.some(({ metadata }) => metadata.name === name), `${name} is created once`);
    const creationTimestamp = new Date(NOW_MS + this.#steps++ * 1000).toISOString();
    const newSet = { ...made, metadata: { ...made.metadata, uid: `uid-${name}-${this.#steps}`, creationTimestamp } };
    this.sets = [...this.sets, newSet];
    this.deployment = createdStatus({ deployment, newSet, oldSets, revision }, NOW_MS);
  }

  #replace(replicaSet: ReplicaSet): void {
    this.sets = this.sets.map((one) => (one.metadata.uid === replicaSet.metadata.uid ? replicaSet : one));
  }

  /** Asserts that a decision neither exceeds the surge nor removes available pods that are needed. */
  #checkBounds(actions: readonly DeploymentAction[]): void {
    const wanted = wantedReplicas(this.deployment);
    const grows = actions.some(
      (action) => action.type === 'create' || (action.type === 'scale' && action.to > action.from),
    );
    if (grows) assert.ok(totalSize(this.sets) <= wanted + maxSurge(this.deployment), 'the surge is kept');
    const least = wanted - maxUnavailable(this.deployment);
    // available pods that remain after the scale-down, which deletes unavailable ones first
    const remaining = this.sets.reduce(
      (sum, one) => sum + Math.min(sizeOf(one), one.status?.availableReplicas ?? 0),
      0,
    );
    if (this.#wasAvailable) assert.ok(remaining >= least, `${remaining} of at least ${least} pods are left`);
    this.#wasAvailable = remaining >= least;
  }
}

function randomOf(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 15), state | 1);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test(`rollouts keep their bounds and end with the wanted pods (${SEEDS.length} random histories)`, () => {
  for (const seed of SEEDS) {
    const rollout = new Rollout(seed);
    try {
      for (let step = 0; step < STEPS; step++) rollout.step({ isFaulty: true });
      rollout.rest();
    } catch (error) {
      throw new Error(`TEST_SEED=${seed}`, { cause: error });
    }
  }
});
