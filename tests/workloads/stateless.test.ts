/** Deployments, Services and PodDisruptionBudgets on Podwright's API server. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { KubeObject } from '@podwright/kube-api';
import { SERVICES } from '@podwright/kube-client';
import { BUDGETS, DEPLOYMENTS, ENDPOINT_SLICES, ENDPOINTS, REPLICA_SETS } from './compare/resources.ts';
import { WorkloadPlace } from './workload-place.fixture.ts';

type Status = {
  observedGeneration?: number;
  availableReplicas?: number;
  conditions?: { type: string; reason?: string }[];
};
type Deployment = KubeObject & { status?: Status & { replicas?: number; updatedReplicas?: number } };
type Slice = KubeObject & { endpoints: { addresses: string[]; conditions: { ready: boolean } }[] };
type Budget = KubeObject & { status?: { currentHealthy: number; disruptionsAllowed: number } };

const LABELS = { app: 'web' };
let place: WorkloadPlace;

const template = (image: string) => ({
  metadata: { labels: LABELS },
  spec: { containers: [{ name: 'main', image }], automountServiceAccountToken: false },
});

/** Creates a namespace and a Deployment in it. */
async function deploy(namespace: string, spec: object = {}): Promise<string> {
  await place.namespace(namespace);
  const whole = { replicas: 3, selector: { matchLabels: LABELS }, template: template('v1'), ...spec };
  await place.client.create(DEPLOYMENTS, { metadata: { namespace, name: 'web' }, spec: whole } as KubeObject);
  return namespace;
}

const patch = (namespace: string, spec: object) =>
  place.client.patch(DEPLOYMENTS, { namespace, name: 'web' }, { type: 'strategic', body: { spec } });
const image = (namespace: string, value: string) =>
  patch(namespace, { template: { spec: { containers: [{ name: 'main', image: value }] } } });

/** Waits until the rollout is complete and all pods have the image. */
async function untilDone(namespace: string, value: string, replicas = 3): Promise<Deployment> {
  return await place.until(async () => {
    const deployment = await place.client.get<Deployment>(DEPLOYMENTS, { namespace, name: 'web' });
    const { status = {}, metadata } = deployment;
    const images = (await place.pods(namespace)).map(({ spec }) => spec.containers[0]!.image);
    const hasPods = images.length === replicas && images.every((one) => one === value);
    const isObserved = (status.observedGeneration ?? 0) >= metadata.generation!;
    const isDone = status.conditions?.some(({ reason }) => reason === 'NewReplicaSetAvailable');
    return hasPods && isObserved && isDone && (status.availableReplicas ?? 0) === replicas && deployment;
  });
}

suite('stateless workloads', () => {
  before(async () => {
    place = await WorkloadPlace.start();
    await place.control();
  });
  after(async () => await place.stop());

  test('a Deployment is rolled out, updated, rolled back, scaled and removed', async () => {
    const namespace = await deploy('rollout');
    await untilDone(namespace, 'v1');
    await image(namespace, 'v2');
    await untilDone(namespace, 'v2');
    await image(namespace, 'v1');
    const { metadata } = await untilDone(namespace, 'v1');
    assert.equal(metadata.annotations?.['deployment.kubernetes.io/revision'], '3');
    await patch(namespace, { replicas: 5 });
    await untilDone(namespace, 'v1', 5);
    assert.equal((await place.list(REPLICA_SETS, namespace)).length, 2);
    await place.until(async () => (await place.events(namespace, 'ScalingReplicaSet')).length >= 10);
    await place.client.delete(DEPLOYMENTS, { namespace, name: 'web' }, { propagationPolicy: 'Background' });
    await place.until(async () => (await place.pods(namespace)).length === 0);
    assert.deepEqual(await place.list(REPLICA_SETS, namespace), []);
  });

  test('a Service has the ready pods as endpoints', async () => {
    const namespace = await deploy('service');
    const spec = { selector: LABELS, ports: [{ port: 80, targetPort: 8080 }] };
    await place.client.create(SERVICES, { metadata: { namespace, name: 'web' }, spec } as KubeObject);
    const ready = async () => {
      const slices = await place.list<Slice>(ENDPOINT_SLICES, namespace);
      return slices.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) => conditions.ready).length;
    };
    await place.until(async () => (await ready()) === 3);
    await patch(namespace, { replicas: 1 });
    await place.until(async () => (await ready()) === 1);
    type Subsets = KubeObject & { subsets?: { addresses?: unknown[] }[] };
    await place.until(async () => {
      const [endpoints] = await place.list<Subsets>(ENDPOINTS, namespace);
      return endpoints?.subsets?.[0]?.addresses?.length === 1;
    });
  });

  test('a disruption budget counts healthy pods', async () => {
    const namespace = await deploy('budget');
    const spec = { maxUnavailable: 1, selector: { matchLabels: LABELS } };
    await place.client.create(BUDGETS, { metadata: { namespace, name: 'web' }, spec } as KubeObject);
    await place.until(async () => {
      const [budget] = await place.list<Budget>(BUDGETS, namespace);
      return budget?.status?.currentHealthy === 3 && budget.status.disruptionsAllowed === 1;
    });
  });
});
