import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import type { Deployment, DeploymentStatus } from '../objects/deployment.ts';
import type { ReplicaSet } from '../objects/replica-set.ts';
import { testPod } from '../pods/test-pod.fixture.ts';
import { type DeploymentAction, decideDeployment } from './decide-deployment.ts';
import { type Changes, NOW_MS, type TestSet, testDeployment, testSet } from './deployment.fixture.ts';
import { plainStatus } from './deployment-status.ts';

const ago = (seconds: number) => new Date(NOW_MS - seconds * 1000).toISOString().replace('.000', '');
const progressing = (status: string, reason: string, seconds = 0) => ({
  type: 'Progressing',
  status,
  reason,
  message: 'm',
  lastUpdateTime: ago(seconds),
  lastTransitionTime: ago(seconds),
});

type Case = {
  spec?: Changes['spec'];
  status?: DeploymentStatus;
  metadata?: Partial<Deployment['metadata']>;
  sets?: TestSet[];
  pods?: Pod[];
};

const revision = (value: string) => ({ annotations: { 'deployment.kubernetes.io/revision': value } });

function decide({ spec, status, metadata, sets = [], pods = [] }: Case): DeploymentAction[] {
  const deployment = testDeployment({ spec, status, metadata });
  const replicaSets: ReplicaSet[] = sets.map((one) => testSet(deployment, one));
  return decideDeployment({ deployment, replicaSets, podsOf: () => pods, nowMs: NOW_MS });
}

/** Formats the actions of a Deployment briefly, such as `scale web 1→2`. */
function short(actions: readonly DeploymentAction[]): string {
  return actions
    .map((action) => {
      if (action.type === 'scale') return `scale ${action.replicaSet.metadata.name} ${action.from}→${action.to}`;
      if (action.type === 'create') return `create ${action.size} as ${action.revision}`;
      if (action.type === 'delete' || action.type === 'update')
        return `${action.type} ${action.replicaSet.metadata.name}`;
      return action.type === 'wait' ? `wait ${action.ms / 1000}` : action.type;
    })
    .join(', ');
}

function check(title: string, given: Case, expected: string) {
  test(title, () => assert.equal(short(decide(given)), expected));
}

function reported(given: Case): DeploymentStatus {
  const report = decide(given).find((action) => action.type === 'report');
  return report!.deployment.status!;
}

function condition(given: Case, type = 'Progressing'): string {
  const found = reported(given).conditions?.find((one) => one.type === type);
  return found === undefined ? 'none' : `${found.status} ${found.reason}: ${found.message}`;
}

const RECREATE = { strategy: { type: 'Recreate' as const } };
const DONE = { sets: [{ image: 'v1', size: 10 }], metadata: revision('1') };

check('a Deployment without ReplicaSets creates one', {}, 'create 10 as 1');
check('a new template creates a ReplicaSet as large as the surge', { spec: { image: 'v2' }, ...DONE }, 'create 3 as 2');
check('a full Deployment only reports', DONE, 'report');
check('an empty selector is a warning', { spec: { selector: {} }, ...DONE }, 'warn, report');
check(
  'a Deployment that is being deleted only reports',
  { metadata: { deletionTimestamp: ago(0) }, spec: { image: 'v2' }, sets: DONE.sets },
  'report',
);
check(
  'a rollback gives the ReplicaSet a new revision',
  {
    sets: [
      { image: 'v1', size: 0 },
      { image: 'v2', size: 10 },
    ],
  },
  'update v1',
);
test('changes to replicas or minReadySeconds are applied to the existing ReplicaSet', () => {
  const replicaSets = [testSet(testDeployment(DONE), { image: 'v1', size: 10 })];
  const after = (spec: Changes['spec']) => {
    const deployment = testDeployment({ ...DONE, spec });
    return short(decideDeployment({ deployment, replicaSets, podsOf: () => [], nowMs: NOW_MS }));
  };
  assert.deepEqual([after({ replicas: 4 }), after({ minReadySeconds: 5 })], ['scale v1 10→4', 'update v1']);
});

check('Recreate ends old pods first', { spec: { ...RECREATE, image: 'v2' }, sets: DONE.sets }, 'scale v1 10→0');
check(
  'Recreate waits for old pods',
  { spec: { ...RECREATE, image: 'v2' }, sets: [{ image: 'v1', size: 0 }], pods: [testPod({ isDeleting: true })] },
  'report',
);
check(
  'Recreate does not wait for ended pods',
  { spec: { ...RECREATE, image: 'v2' }, sets: [{ image: 'v1', size: 0 }], pods: [testPod({ phase: 'Failed' })] },
  'create 10 as 2',
);

const OF_TEN = { annotations: { 'deployment.kubernetes.io/desired-replicas': '10' } };
const UNFINISHED = [
  { image: 'v1', size: 8, ...OF_TEN },
  { image: 'v2', size: 5, ...OF_TEN },
];
check(
  'Recreate and another number of replicas in the middle of a rolling update end the old pods',
  { spec: { ...RECREATE, image: 'v3', replicas: 4 }, sets: UNFINISHED },
  'scale v1 8→0, scale v2 5→0',
);
check(
  'a new ReplicaSet that such a change finds keeps its pods',
  { spec: { ...RECREATE, image: 'v2', replicas: 4 }, sets: UNFINISHED },
  'scale v1 8→0',
);

const OLD = [1, 2, 3].map((number) => ({ image: `v${number}`, size: 0 }));
const COMPLETE = { updatedReplicas: 10, replicas: 10, availableReplicas: 10, observedGeneration: 1 };
const LIMITED = { spec: { image: 'v4', revisionHistoryLimit: 1 }, sets: [...OLD, { image: 'v4', size: 10 }] };
check(
  'a complete rollout deletes the oldest ReplicaSets',
  { ...LIMITED, status: COMPLETE },
  'delete v1, delete v2, report',
);
check('an incomplete rollout keeps old ReplicaSets', LIMITED, 'report');
check(
  'a limit of 2147483647 keeps all',
  { ...LIMITED, status: COMPLETE, spec: { image: 'v4', revisionHistoryLimit: 2147483647 } },
  'report',
);
check(
  'a paused Deployment deletes old ReplicaSets, but not those with pods',
  {
    ...LIMITED,
    spec: { ...LIMITED.spec, paused: true, revisionHistoryLimit: 0 },
    sets: [{ image: 'v1', size: 0, pods: 1 }, ...LIMITED.sets.slice(1)],
  },
  'delete v2, delete v3, report',
);
check(
  'a paused Deployment does not create a ReplicaSet',
  { spec: { image: 'v2', paused: true }, sets: DONE.sets },
  'report',
);

const ROLLING = {
  spec: { image: 'v2' },
  sets: [
    { image: 'v1', size: 8 },
    { image: 'v2', size: 5, available: 0 },
  ],
};
check(
  'a rollout is judged after its deadline',
  {
    ...ROLLING,
    status: {
      updatedReplicas: 5,
      replicas: 13,
      readyReplicas: 8,
      availableReplicas: 8,
      conditions: [progressing('True', 'ReplicaSetUpdated', 500)],
    },
  },
  'report, wait 101',
);

test('the status has the totals of all ReplicaSets', () => {
  const { conditions: _conditions, ...status } = reported({
    ...ROLLING,
    metadata: { generation: 7 },
    status: { collisionCount: 2 },
  });
  assert.deepEqual(status, {
    observedGeneration: 7,
    replicas: 13,
    updatedReplicas: 5,
    readyReplicas: 8,
    availableReplicas: 8,
    unavailableReplicas: 5,
    terminatingReplicas: 0,
    collisionCount: 2,
  });
});

test('numbers in the status do not exceed int32', () => {
  const huge = 2 ** 31 - 1;
  const deployment = testDeployment({ spec: { image: 'v2', replicas: huge } });
  const [oldSet, newSet] = ['v1', 'v2'].map((image) => testSet(deployment, { image, size: huge, pods: 0 }));
  const status = plainStatus({ deployment, newSet, oldSets: [oldSet!] }, NOW_MS);
  assert.equal(status.unavailableReplicas, huge);
});

const SAME = { updatedReplicas: 5, replicas: 13, readyReplicas: 8, availableReplicas: 8 };

function checkCondition(title: string, given: Case, expected: string, type?: string) {
  test(title, () => assert.equal(condition(given, type), expected));
}

checkCondition(
  'a first report finds the ReplicaSet',
  { ...ROLLING, status: SAME },
  'True FoundNewReplicaSet: Found new replica set "v2"',
);
checkCondition(
  'more pods are progress',
  { ...ROLLING, status: { conditions: [progressing('True', 'NewReplicaSetCreated')] } },
  'True ReplicaSetUpdated: ReplicaSet "v2" is progressing.',
);
checkCondition(
  'no progress until the deadline is a timeout',
  { ...ROLLING, status: { ...SAME, conditions: [progressing('True', 'ReplicaSetUpdated', 601)] } },
  'False ProgressDeadlineExceeded: ReplicaSet "v2" has timed out progressing.',
);
checkCondition(
  'no progress before the deadline changes nothing',
  { ...ROLLING, status: { ...SAME, conditions: [progressing('True', 'ReplicaSetUpdated', 599)] } },
  'True ReplicaSetUpdated: m',
);
checkCondition(
  'all pods of the template are the end',
  { ...DONE, status: { conditions: [progressing('True', 'ReplicaSetUpdated')] } },
  'True NewReplicaSetAvailable: ReplicaSet "v1" has successfully progressed.',
);
checkCondition(
  'without a deadline progress is not reported',
  {
    ...DONE,
    spec: { progressDeadlineSeconds: 2147483647 },
    status: { conditions: [progressing('True', 'ReplicaSetUpdated')] },
  },
  'none',
);
checkCondition(
  'a pause is reported',
  { ...DONE, spec: { paused: true } },
  'Unknown DeploymentPaused: Deployment is paused',
);
checkCondition(
  'the end of a pause is reported',
  { ...ROLLING, status: { ...SAME, conditions: [progressing('Unknown', 'DeploymentPaused')] } },
  'Unknown DeploymentResumed: Deployment is resumed',
);
checkCondition(
  'a timeout is not replaced by a pause',
  {
    ...ROLLING,
    spec: { image: 'v2', paused: true },
    status: { ...SAME, conditions: [progressing('False', 'ProgressDeadlineExceeded')] },
  },
  'False ProgressDeadlineExceeded: m',
);
checkCondition(
  'enough available pods are minimum availability',
  ROLLING,
  'True MinimumReplicasAvailable: Deployment has minimum availability.',
  'Available',
);
checkCondition(
  'too few available pods are no minimum availability',
  { sets: [{ image: 'v1', size: 10, available: 7 }] },
  'False MinimumReplicasUnavailable: Deployment does not have minimum availability.',
  'Available',
);

test('a ReplicaSet failure is reported until it is resolved', () => {
  const failure = {
    type: 'ReplicaFailure',
    status: 'True',
    reason: 'FailedCreate',
    message: 'quota',
    lastTransitionTime: ago(5),
  };
  const deployment = testDeployment(DONE);
  const set = testSet(deployment, { image: 'v1', size: 10 });
  const failed = { ...set, status: { ...set.status, conditions: [failure] } };
  const after = (read: Deployment, replicaSet: ReplicaSet) => {
    const actions = decideDeployment({ deployment: read, replicaSets: [replicaSet], podsOf: () => [], nowMs: NOW_MS });
    const report = actions.find((action) => action.type === 'report')!.deployment;
    return { report, found: report.status!.conditions!.find(({ type }) => type === 'ReplicaFailure') };
  };
  const { report, found } = after(deployment, failed);
  assert.deepEqual(found, { ...failure, lastUpdateTime: ago(5) });
  assert.equal(after(report, set).found, undefined);
});
