/**
 * The controllers are killed at a write, after the server has executed it but before its response arrives, and new ones take over. Nothing
 * may be duplicated or missing as a result. `TEST_KILLS=n` tries each of the first n writes; there are about 40.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { KubeObject } from '@podwright/kube-api';
import { type KubeClient, PODS, SERVICES } from '@podwright/kube-client';
import { DEPLOYMENTS, ENDPOINT_SLICES, REPLICA_SETS } from './compare/resources.ts';
import { WorkloadPlace } from './workload-place.fixture.ts';

const { TEST_KILLS } = process.env;
const KILLS =
  TEST_KILLS === undefined
    ? [0, 1, 2, 3, 4, 6, 8, 11, 15, 20, 26]
    : Array.from({ length: Number(TEST_KILLS) }, (_, index) => index);
const REPLICAS = 3;
/** Maximum number of pods: a rolling update may have one extra pod. */
const MOST_PODS = REPLICAS + 1;
const WRITES = new Set(['create', 'update', 'patch', 'delete']);
const LABELS = { app: 'web' };

let place: WorkloadPlace;

/**
 * Returns a client that loses the response of a write after `afterWrites` successful ones; all later writes fail. `killed` resolves at that
 * point.
 */
function dyingClient(client: KubeClient, afterWrites: number): { client: KubeClient; killed: Promise<void> } {
  const { promise: killed, resolve } = Promise.withResolvers<void>();
  let left = afterWrites;
  let isDead = false;
  const dying = new Proxy(client, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function' || !WRITES.has(String(name)))
        return typeof value === 'function' ? value.bind(target) : value;
      return async (...given: unknown[]) => {
        if (isDead) throw new Error('the process has ended');
        isDead = left-- === 0;
        const result: unknown = await Reflect.apply(value, target, given);
        if (!isDead) return result;
        resolve();
        throw new Error('the process has ended');
      };
    },
  });
  return { client: dying, killed };
}

const template = (image: string) => ({
  metadata: { labels: LABELS },
  spec: { containers: [{ name: 'main', image }], automountServiceAccountToken: false },
});

/** Waits until all pods have the image and the endpoints are up to date. */
async function untilDone(namespace: string, image: string): Promise<void> {
  type Slice = KubeObject & { endpoints?: { conditions: { ready: boolean } }[] };
  await place.until(async () => {
    const [pods, slices] = await Promise.all([place.pods(namespace), place.list<Slice>(ENDPOINT_SLICES, namespace)]);
    const active = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    assert.ok(active.length <= MOST_PODS, `${active.length} pods`);
    const ready = slices.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) => conditions.ready);
    const isDone = pods.length === REPLICAS && pods.every(({ spec }) => spec.containers[0]!.image === image);
    return isDone && ready.length === REPLICAS && slices.length === 1;
  });
}

suite('controllers that end at a write', () => {
  before(async () => {
    place = await WorkloadPlace.start();
  });
  after(async () => await place.stop());

  for (const writes of KILLS) {
    test(`a rollout is right if the controllers end at write ${writes}`, async () => {
      const namespace = await place.namespace(`killed-${writes}`);
      const dying = dyingClient(place.client, writes);
      await place.control(dying.client);
      const spec = { selector: LABELS, ports: [{ port: 80, targetPort: 8080 }] };
      await place.client.create(SERVICES, { metadata: { namespace, name: 'web' }, spec } as KubeObject);
      const deployment = { replicas: REPLICAS, selector: { matchLabels: LABELS }, template: template('v1') };
      await place.client.create(DEPLOYMENTS, { metadata: { namespace, name: 'web' }, spec: deployment } as KubeObject);
      const isInFirst = await Promise.race([
        dying.killed.then(() => true),
        untilDone(namespace, 'v1').then(() => false),
      ]);
      if (isInFirst) await place.control();
      await untilDone(namespace, 'v1');
      const body = { spec: { template: template('v2') } };
      await place.client.patch(DEPLOYMENTS, { namespace, name: 'web' }, { type: 'merge', body });
      if (!isInFirst) await Promise.race([dying.killed, untilDone(namespace, 'v2')]);
      if (!isInFirst) await place.control();
      await untilDone(namespace, 'v2');
      const sets = await place.list<KubeObject & { spec: { replicas: number } }>(REPLICA_SETS, namespace);
      assert.deepEqual(sets.map((one) => one.spec.replicas).sort(), [0, REPLICAS]);
      await place.client.delete(DEPLOYMENTS, { namespace, name: 'web' }, { propagationPolicy: 'Background' });
      await place.client.deleteCollection(PODS, { namespace });
    });
  }
});
