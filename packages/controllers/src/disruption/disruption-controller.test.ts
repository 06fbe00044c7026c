import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, Pod, Resource } from '@podwright/kube-api';
import { PODS } from '@podwright/kube-client';
import { DEPLOYMENTS } from '../objects/deployment.ts';
import { POD_DISRUPTION_BUDGETS, type PodDisruptionBudget } from '../objects/pod-disruption-budget.ts';
import { REPLICA_SETS } from '../objects/replica-set.ts';
import { testPod } from '../pods/test-pod.fixture.ts';
import { TestPlace } from '../test-place.fixture.ts';
import { disruptionController } from './disruption-controller.ts';

const LABELS = { app: 'web' };
const PLACE = { namespace: 'shop', name: 'web' };

class Place extends TestPlace {
  constructor() {
    super(disruptionController);
  }

  budget(spec: PodDisruptionBudget['spec']): void {
    const metadata = { ...PLACE, uid: 'b1', generation: 1 };
    this.client.put(POD_DISRUPTION_BUDGETS, { metadata, spec: { selector: { matchLabels: LABELS }, ...spec } });
  }

  get status() {
    return this.client.stored<PodDisruptionBudget>(POD_DISRUPTION_BUDGETS, PLACE)?.status;
  }

  /** Makes the fake API server respond with these documents, by path. */
  answer(documents: Record<string, object>): void {
    const answers = Array.from(
      { length: 50 },
      () =>
        ({ path = '' }: { path?: string }) =>
          JSON.stringify(documents[path]),
    );
    this.client.script({ verb: 'getText' }, ...answers);
  }

  /** The paths of all documents requested so far. */
  get asked(): string[] {
    return this.client.callsOf({ verb: 'getText' }).map(({ path = '' }) => path);
  }

  pod(name: string, controller?: { kind: string; name: string; apiVersion?: string }): Pod {
    const reference = controller && {
      apiVersion: 'apps/v1',
      ...controller,
      uid: `uid-${controller.name}`,
      controller: true,
    };
    const labels = LABELS;
    return this.client.put(
      PODS,
      testPod({ name, labels, readySinceMs: 0, ...(reference && { controller: reference }) }),
    );
  }

  sized(resource: Resource, name: string, replicas: number, owner?: string): void {
    const controller = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: owner ?? '',
      uid: `uid-${owner}`,
      controller: true,
    };
    const ownerReferences = owner === undefined ? [] : [controller];
    const metadata = { namespace: 'shop', name, uid: `uid-${name}`, ownerReferences };
    this.client.put(resource, { metadata, spec: { replicas } } as KubeObject);
  }
}

test('the expected pods are those of the Deployment, even if a rollout has several ReplicaSets', async () => {
  await using place = new Place();
  place.sized(DEPLOYMENTS, 'web', 4);
  for (const name of ['old', 'new']) {
    place.sized(REPLICA_SETS, name, 3, 'web');
    place.pod(`${name}-1`, { kind: 'ReplicaSet', name });
    place.pod(`${name}-2`, { kind: 'ReplicaSet', name });
  }
  place.budget({ maxUnavailable: 1 });
  await place.until(() => place.status?.currentHealthy === 4);
  const { expectedPods, desiredHealthy, disruptionsAllowed } = place.status!;
  assert.deepEqual([expectedPods, desiredHealthy, disruptionsAllowed], [4, 3, 1]);
});

test('the scale of a custom controller is queried', async () => {
  await using place = new Place();
  const resources = [
    { name: 'crons', kind: 'Cron' },
    { name: 'crons/scale', kind: 'Scale' },
  ];
  const scale = { metadata: { uid: 'uid-c' }, spec: { replicas: 6 } };
  place.answer({ '/apis/example.com/v1': { resources }, '/apis/example.com/v1/namespaces/shop/crons/c/scale': scale });
  place.pod('c-1', { kind: 'Cron', name: 'c', apiVersion: 'example.com/v1' });
  place.budget({ minAvailable: '50%' });
  await place.until(() => place.status?.expectedPods === 6);
});

test('a budget that cannot be computed allows no disruptions and gives the reason', async () => {
  await using place = new Place();
  place.pod('lost-1', { kind: 'ReplicaSet', name: 'lost' });
  place.answer({ '/apis/apps/v1': { resources: [] } });
  place.budget({ maxUnavailable: 1 });
  await place.until(() => place.status?.conditions?.[0]?.reason === 'SyncFailed');
  assert.equal(place.status!.conditions![0]!.message, 'found no controllers for pod "lost-1"');
  await place.until(() => place.events('CalculateExpectedPodCountFailed').length > 0);
});

test('pods without a controller and budgets without pods are reported', async () => {
  await using place = new Place();
  place.budget({ maxUnavailable: 1 });
  await place.until(() => place.events('NoPods').length === 1);
  place.pod('alone');
  await place.until(() => place.events('UnmanagedPods').length === 1);
  assert.match(
    place.events('UnmanagedPods')[0]!,
    /\(selector: &LabelSelector\{MatchLabels:map\[string\]string\{app: web,\},/,
  );
});

test('a pod that was not deleted after all stops being a disruption target', async () => {
  await using place = new Place();
  const lastTransitionTime = new Date(Date.now() - 121_000).toISOString();
  const condition = {
    type: 'DisruptionTarget',
    status: 'True' as const,
    reason: 'EvictionByEvictionAPI',
    lastTransitionTime,
  };
  const pod = testPod({ name: 'kept' });
  place.client.put(PODS, { ...pod, status: { ...pod.status!, conditions: [condition] } });
  const stored = () => place.client.stored<Pod>(PODS, { namespace: 'shop', name: 'kept' })?.status?.conditions?.[0];
  await place.until(() => stored()?.status === 'False');
  assert.equal(stored()?.reason, undefined);
});

test('a pod with several budgets is reported', async () => {
  await using place = new Place();
  place.budget({ minAvailable: 1 });
  const other = { namespace: 'shop', name: 'other', uid: 'b2' };
  place.client.put(POD_DISRUPTION_BUDGETS, { metadata: other, spec: { selector: {}, minAvailable: 1 } });
  await place.until(() => place.events('NoPods').length === 2);
  place.pod('twice');
  await place.until(() => place.events('MultiplePodDisruptionBudgets').length === 1);
});

test('a pod’s owner reference leads to no requests other than for a scale', async () => {
  await using place = new Place();
  place.answer({
    '/apis/example.com/v1': {
      resources: [
        { name: 'crons', kind: 'Cron' },
        { name: 'crons/scale', kind: 'Scale' },
      ],
    },
  });
  place.pod('c-1', { kind: 'Cron', name: '../../../secrets/x?', apiVersion: 'example.com/v1' });
  place.budget({ maxUnavailable: 1 });
  await place.until(() => place.asked.length >= 2);
  assert.equal(place.asked[1], '/apis/example.com/v1/namespaces/shop/crons/..%2F..%2F..%2Fsecrets%2Fx%3F/scale');
  place.pod('c-1', { kind: 'Cron', name: 'c', apiVersion: '../api/v1/secrets?' });
  await place.until(() => place.status?.conditions?.[0]?.reason === 'SyncFailed');
  assert.deepEqual(new Set(place.asked.map((path) => path.split('/')[1])), new Set(['apis']));
});
