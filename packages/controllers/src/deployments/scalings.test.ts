import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeploymentStrategy } from '../objects/deployment.ts';
import { type TestSet, testDeployment, testSet } from './deployment.fixture.ts';
import { proportionalScalings, rollingScalings, type Scaling } from './scalings.ts';
import { newAndOld } from './template-identity.ts';

const names = (scalings: readonly Scaling[]) =>
  scalings.map(({ replicaSet, from, to }) => `${replicaSet.metadata.name} ${from}→${to}`).join(', ');

const rolling = (maxSurge: number | string, maxUnavailable: number | string): DeploymentStrategy => ({
  type: 'RollingUpdate',
  rollingUpdate: { maxSurge, maxUnavailable },
});

/** A Deployment and its ReplicaSets. `wanted` is the image of the desired template; one of the ReplicaSets has it. */
type Case = { replicas: number; strategy?: DeploymentStrategy; wanted: string; sets: TestSet[] };

function setsOf({ replicas, strategy, wanted, sets }: Case) {
  const deployment = testDeployment({
    spec: { replicas, image: wanted, ...(strategy === undefined ? {} : { strategy }) },
  });
  const replicaSets = sets.map((one) => testSet(deployment, one));
  return { deployment, ...newAndOld(deployment, replicaSets) };
}

function checkRolling(given: Case, expected: string) {
  const title = given.sets.map(({ image, size, available = size }) => `${image} ${available}/${size}`).join(', ');
  test(`a rolling update to ${given.wanted} of ${given.replicas} with ${title}: ${expected || 'nothing'}`, () => {
    const { newSet, ...sets } = setsOf(given);
    assert.equal(names(rollingScalings({ ...sets, newSet: newSet! })), expected);
  });
}

const from = (old: Partial<TestSet>, fresh: Partial<TestSet>): TestSet[] => [
  { image: 'v1', size: 10, ...old },
  { image: 'v2', size: 0, ...fresh },
];
const tens = { replicas: 10, wanted: 'v2' };

checkRolling({ ...tens, sets: from({}, {}) }, 'v2 0→3');
checkRolling({ ...tens, sets: from({}, { size: 3, available: 0 }) }, 'v1 10→8');
checkRolling({ ...tens, sets: from({ size: 8 }, { size: 3, available: 0 }) }, 'v2 3→5');
checkRolling({ ...tens, sets: from({ size: 8 }, { size: 5, available: 0 }) }, '');
checkRolling({ ...tens, sets: from({ size: 8, available: 7 }, { size: 5, available: 0 }) }, '');
checkRolling({ ...tens, sets: from({ size: 8 }, { size: 5, available: 1 }) }, 'v1 8→7');
checkRolling({ ...tens, sets: from({ size: 8 }, { size: 5 }) }, 'v1 8→3');
checkRolling({ ...tens, sets: from({ size: 0 }, { size: 10 }) }, '');
checkRolling({ ...tens, sets: from({ size: 0 }, { size: 12 }) }, 'v2 12→10');
checkRolling({ ...tens, sets: from({ available: 8 }, { size: 3, available: 0 }) }, 'v1 10→8');
checkRolling({ ...tens, sets: from({ available: 9 }, { size: 3, available: 0 }) }, 'v1 10→9, v1 9→8');
checkRolling(
  {
    ...tens,
    sets: [
      { image: 'v1', size: 5, available: 1 },
      { image: 'v2', size: 5, available: 5 },
      { image: 'v3', size: 3, available: 3 },
    ],
    wanted: 'v3',
  },
  'v1 5→1, v1 1→0',
);
checkRolling({ replicas: 1, wanted: 'v2', strategy: rolling('25%', '25%'), sets: from({ size: 1 }, {}) }, 'v2 0→1');
checkRolling(
  { replicas: 1, wanted: 'v2', strategy: rolling('25%', '25%'), sets: from({ size: 1 }, { size: 1, available: 0 }) },
  '',
);
checkRolling({ replicas: 1, wanted: 'v2', strategy: rolling(0, '1%'), sets: from({ size: 1 }, {}) }, 'v1 1→0');
checkRolling({ replicas: 1, wanted: 'v2', strategy: rolling(0, 5), sets: from({ size: 1 }, {}) }, 'v1 1→0');
checkRolling({ replicas: 0, wanted: 'v2', sets: from({ size: 0 }, { size: 2 }) }, 'v2 2→0');

function checkScale(title: string, given: Case, expected: string) {
  test(`scaling ${title}: ${expected || 'nothing'}`, () => {
    assert.equal(names(proportionalScalings(setsOf(given))), expected);
  });
}

/** Returns the annotations of a ReplicaSet that was scaled when its Deployment had this many replicas and this surge. */
const had = (replicas: number, surge = 0) => ({
  annotations: {
    'deployment.kubernetes.io/desired-replicas': String(replicas),
    'deployment.kubernetes.io/max-replicas': String(replicas + surge),
  },
});
const bare = rolling(0, 1);

checkScale(
  'goes to the only active set',
  { replicas: 12, strategy: bare, wanted: 'v2', sets: [{ image: 'v1', size: 10, ...had(10) }] },
  'v1 10→12',
);
checkScale(
  'goes to the newest set if none is active',
  {
    replicas: 5,
    strategy: bare,
    wanted: 'v3',
    sets: [
      { image: 'v1', size: 0 },
      { image: 'v2', size: 0 },
    ],
  },
  'v2 0→5',
);
checkScale(
  'is proportional',
  {
    replicas: 12,
    strategy: bare,
    wanted: 'v2',
    sets: [
      { image: 'v1', size: 5, ...had(10) },
      { image: 'v2', size: 5, ...had(10) },
    ],
  },
  'v2 5→6, v1 5→6',
);
checkScale(
  'down is proportional',
  {
    replicas: 6,
    strategy: bare,
    wanted: 'v2',
    sets: [
      { image: 'v1', size: 3, ...had(10) },
      { image: 'v2', size: 7, available: 6, ...had(10) },
    ],
  },
  'v2 7→4, v1 3→2',
);
checkScale(
  'gives the rest to the largest',
  {
    replicas: 20,
    strategy: bare,
    wanted: 'v3',
    sets: [
      { image: 'v1', size: 5, ...had(10) },
      { image: 'v2', size: 3, ...had(10) },
      { image: 'v3', size: 2, ...had(10) },
    ],
  },
  'v1 5→10, v2 3→6, v3 2→4',
);
checkScale(
  'to 0 ends all',
  {
    replicas: 0,
    strategy: bare,
    wanted: 'v2',
    sets: [
      { image: 'v1', size: 2, ...had(5) },
      { image: 'v2', size: 3, available: 1, ...had(5) },
    ],
  },
  'v2 3→0, v1 2→0',
);
checkScale(
  'with a saturated set ends the others',
  {
    replicas: 5,
    strategy: bare,
    wanted: 'v2',
    sets: [
      { image: 'v1', size: 2 },
      { image: 'v2', size: 5, ...had(5) },
    ],
  },
  'v1 2→0',
);
checkScale(
  'respects the surge',
  {
    replicas: 20,
    strategy: rolling(4, 0),
    wanted: 'v2',
    sets: [
      { image: 'v1', size: 8, ...had(10, 2) },
      { image: 'v2', size: 4, ...had(10, 2) },
    ],
  },
  'v1 8→16, v2 4→8',
);
checkScale(
  'without annotations uses the size of the Deployment',
  {
    replicas: 10,
    strategy: bare,
    wanted: 'v2',
    sets: [
      { image: 'v1', size: 3, ...had(0) },
      { image: 'v2', size: 3, ...had(0) },
    ],
  },
  'v2 3→7, v1 3→3',
);
