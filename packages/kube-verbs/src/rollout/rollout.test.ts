import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeApi, targetOf } from '../fake-api.fixture.ts';
import type { Workload } from '../workload.ts';
import { pauseRollout, restartRollout } from './change.ts';
import { followRollout } from './follow.ts';
import { historyText } from './history.ts';
import { readRevisions } from './revisions.ts';
import { rolloutStatus } from './status.ts';
import { undoRollout } from './undo.ts';

const workload = (kind: string, spec: object, status: object): Workload =>
  ({ kind, metadata: { name: 'web', generation: 2 }, spec, status: { observedGeneration: 2, ...status } }) as Workload;

test('rollout status messages match kubectl', () => {
  const rolling = { updateStrategy: { type: 'RollingUpdate' } };
  const partitioned = { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } };
  const finish = (what: string) => `Waiting for ${what} "web" rollout to finish: `;
  const table: [kind: string, spec: object, status: object, text: string, isDone?: true][] = [
    ['Deployment', { replicas: 3 }, { observedGeneration: 1 }, 'Waiting for deployment spec update to be observed...'],
    [
      'Deployment',
      { replicas: 3 },
      { updatedReplicas: 1 },
      `${finish('deployment')}1 out of 3 new replicas have been updated...`,
    ],
    [
      'Deployment',
      { replicas: 2 },
      { updatedReplicas: 2, replicas: 3 },
      `${finish('deployment')}1 old replicas are pending termination...`,
    ],
    [
      'Deployment',
      { replicas: 2 },
      { updatedReplicas: 2, replicas: 2, availableReplicas: 1 },
      `${finish('deployment')}1 of 2 updated replicas are available...`,
    ],
    ['Deployment', { replicas: 0 }, {}, 'deployment "web" successfully rolled out', true],
    [
      'DaemonSet',
      rolling,
      { desiredNumberScheduled: 2 },
      `${finish('daemon set')}0 out of 2 new pods have been updated...`,
    ],
    [
      'DaemonSet',
      rolling,
      { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 },
      `${finish('daemon set')}1 of 2 updated pods are available...`,
    ],
    ['DaemonSet', rolling, {}, 'daemon set "web" successfully rolled out', true],
    ['StatefulSet', { ...rolling, replicas: 3 }, { readyReplicas: 1 }, 'Waiting for 2 pods to be ready...'],
    [
      'StatefulSet',
      { ...partitioned, replicas: 3 },
      { readyReplicas: 3, updatedReplicas: 1 },
      'Waiting for partitioned roll out to finish: 1 out of 2 new pods have been updated...',
    ],
    [
      'StatefulSet',
      { ...partitioned, replicas: 3 },
      { readyReplicas: 3, updatedReplicas: 2 },
      'partitioned roll out complete: 2 new pods have been updated...',
      true,
    ],
    [
      'StatefulSet',
      { ...rolling, replicas: 1 },
      { readyReplicas: 1, updateRevision: 'b', currentRevision: 'a' },
      'waiting for statefulset rolling update to complete 0 pods at revision b...',
    ],
    [
      'StatefulSet',
      { ...rolling, replicas: 1 },
      { readyReplicas: 1, currentReplicas: 1, updateRevision: 'a', currentRevision: 'a' },
      'statefulset rolling update complete 1 pods at revision a...',
      true,
    ],
  ];
  for (const [kind, spec, status, text, isDone = false] of table)
    assert.deepEqual(rolloutStatus(workload(kind, spec, status)), { text, isDone });
  const late = { conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] };
  assert.throws(() => rolloutStatus(workload('Deployment', {}, late)), {
    message: 'deployment "web" exceeded its progress deadline',
  });
  assert.throws(() => rolloutStatus(workload('DaemonSet', { updateStrategy: { type: 'OnDelete' } }, {})), {
    message: 'rollout status is only available for RollingUpdate strategy type',
  });
});

test('a rollout is followed until done, or until its object is deleted', async () => {
  const state = (updatedReplicas: number) => ({
    metadata: { name: 'web' },
    spec: { replicas: 1 },
    status: { updatedReplicas, replicas: updatedReplicas, availableReplicas: updatedReplicas },
  });
  const follow = async (changes: { type: string; object: object }[]) => {
    const texts: string[] = [];
    const api = new FakeApi({}, changes as never);
    const { signal } = new AbortController();
    await followRollout(api, targetOf('Deployment', state(0)), { onStatus: ({ text }) => texts.push(text), signal });
    return texts.length;
  };
  assert.equal(
    await follow([
      { type: 'ADDED', object: state(0) },
      { type: 'MODIFIED', object: state(1) },
    ]),
    2,
  );
  await assert.rejects(follow([{ type: 'DELETED', object: state(0) }]), { message: 'object has been deleted' });
  await assert.rejects(follow([]), { code: 'unavailable' });
});

const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'x', name: 'web', uid: 'u', controller: true }];
const template = (image: string, labels: object = {}) => ({
  metadata: { labels: { app: 'web', ...labels } },
  spec: { containers: [{ name: 'main', image }] },
});
const set = (revision: number, image: string, annotations: object = {}) => ({
  metadata: {
    name: `web-${revision}`,
    ownerReferences,
    annotations: { 'deployment.kubernetes.io/revision': String(revision), ...annotations },
  },
  spec: { template: template(image, { 'pod-template-hash': String(revision) }) },
});
const SETS = '/apis/apps/v1/namespaces/d/replicasets';
const deployment = (spec: object = {}) =>
  targetOf('Deployment', {
    metadata: {
      name: 'web',
      namespace: 'd',
      uid: 'u',
      annotations: { 'deployment.kubernetes.io/revision': '2', mine: 'x' },
    },
    spec: { selector: { matchLabels: { app: 'web' } }, template: template('web:2'), ...spec },
  });

test('a Deployment’s history comes from its ReplicaSets', async () => {
  const sets = [
    set(2, 'web:2'),
    set(1, 'web:1', { 'kubernetes.io/change-cause': 'first' }),
    { ...set(9, 'x'), metadata: { name: 'other' } },
  ];
  const api = new FakeApi({ [SETS]: { items: sets } });
  const revisions = await readRevisions(api, deployment());
  assert.equal(
    historyText(deployment(), revisions),
    'deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         first\n2         <none>\n',
  );
  assert.match(
    historyText(deployment(), revisions, 1),
    /^deployment\.apps\/web with revision #1\nPod Template:\n(?:.*\n)*.*web:1/,
  );
  assert.throws(() => historyText(deployment(), revisions, 7), { message: 'unable to find the specified revision' });
  await assert.rejects(readRevisions(api, targetOf('Job', {}, 'batch')), {
    message: /no history viewer .* "Job.batch"/,
  });
});

test('undo restores an earlier revision’s template and annotations to a Deployment', async () => {
  const api = new FakeApi({ [SETS]: { items: [set(1, 'web:1', { note: 'y' }), set(2, 'web:2')] } });
  assert.equal(await undoRollout(api, deployment()), 'rolled back');
  assert.deepEqual(api.sent[0]!.body, [
    { op: 'replace', path: '/spec/template', value: template('web:1') },
    { op: 'add', path: '/metadata/annotations', value: { 'deployment.kubernetes.io/revision': '2', note: 'y' } },
  ]);
  assert.equal(
    await undoRollout(api, deployment(), 2),
    'skipped rollback (current template already matches revision 2)',
  );
  await assert.rejects(undoRollout(api, deployment(), 9), {
    message: 'unable to find specified revision 9 in history',
  });
  await assert.rejects(undoRollout(api, deployment({ paused: true })), {
    message: /^you cannot rollback a paused deployment/,
  });
  assert.equal(api.sent.length, 1);
});

test('undo sends a ControllerRevision’s data', async () => {
  const revision = (number: number) => ({
    metadata: { name: `web-${number}`, ownerReferences },
    revision: number,
    data: { spec: { template: { $patch: 'replace', ...template(`web:${number}`) } } },
  });
  const items = [revision(1), revision(2)];
  const api = new FakeApi({ '/apis/apps/v1/namespaces/d/controllerrevisions': { items } });
  const target = targetOf('DaemonSet', { spec: { selector: {}, template: template('web:2') } });
  assert.equal(await undoRollout(api, target), 'rolled back');
  assert.deepEqual(
    [api.sent[0]!.contentType, api.sent[0]!.body],
    ['application/strategic-merge-patch+json', items[0]!.data],
  );
  assert.match(await undoRollout(api, target, 2), /^skipped rollback/);
});

test('restart, pause and resume change the spec, or report why they cannot', async () => {
  const api = new FakeApi();
  await restartRollout(api, deployment(), Date.parse('2026-11-30T12:00:00.5Z'));
  await pauseRollout(api, deployment(), true);
  assert.deepEqual(
    api.sent.map(({ body }) => body),
    [
      {
        spec: {
          template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': '2026-11-30T12:00:00Z' } } },
        },
      },
      { spec: { paused: true } },
    ],
  );
  const paused = deployment({ paused: true });
  await assert.rejects(restartRollout(api, paused, 0), { message: /"web" can't restart paused deployment/ });
  await assert.rejects(pauseRollout(api, paused, true), { message: 'deployments.apps "web" is already paused' });
  await assert.rejects(pauseRollout(api, deployment(), false), { message: 'deployments.apps "web" is not paused' });
  await assert.rejects(pauseRollout(api, targetOf('StatefulSet', {}), true), { message: /pausing is not supported/ });
});
