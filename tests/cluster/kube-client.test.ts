/** The API client and its informers with an API server: Podwright's or, with PODWRIGHT_KUBERNETES_BIN, a real one. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { waitFor, withTimeout } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import {
  CONFIG_MAPS,
  createKubeClient,
  type InformerChange,
  isApiStatus,
  type KubeClient,
  NODES,
  PODS,
  readKubeconfig,
  SECRETS,
  startInformer,
  TOKEN_REVIEWS,
} from '@podwright/kube-client';
import { startCluster, startOwnCluster } from './cluster.fixture.ts';
import type { Credential } from './credential.ts';
import type { Fault } from './faults/faults.ts';

type ConfigMap = KubeObject & { data?: Record<string, string> };

const NAMESPACE = 'default';

/** Runs `work` with a client that, like the kubelet's, uses a kubeconfig file. */
async function withClient(kubeconfig: string, work: (client: KubeClient) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'kube-client-'));
  try {
    await writeFile(join(directory, 'kubeconfig'), kubeconfig, { mode: 0o600 });
    const client = createKubeClient(await readKubeconfig(join(directory, 'kubeconfig')));
    await work(client).finally(() => client.close());
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  using signal = withTimeout(undefined, 60_000, 'wait');
  await waitFor(async () => ((await condition()) ? true : undefined), { intervalMs: 10, signal });
}

const configMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: NAMESPACE, name },
  data,
});

const place = (name: string) => ({ namespace: NAMESPACE, name });

/** Starts an informer for the tests' ConfigMaps, and tracks them according to the changes that the informer reports. */
function follow(client: KubeClient) {
  const reported = new Map<string, ConfigMap>();
  const problems: string[] = [];
  const onChange = ({ type, object }: InformerChange<ConfigMap>) => {
    const name = object.metadata.name!;
    const existing = reported.get(name);
    if ((type === 'ADDED') === (existing !== undefined)) problems.push(`${type} ${name}`);
    const [before, now] = [existing, object].map((one) => Number(one?.metadata.resourceVersion ?? 0));
    if (type === 'MODIFIED' && now! <= before!) problems.push(`${name} goes back from version ${before} to ${now}`);
    if (type === 'DELETED') reported.delete(name);
    else reported.set(name, object);
  };
  const informer = startInformer<ConfigMap>(client, { resource: CONFIG_MAPS, namespace: NAMESPACE, onChange });
  return { informer, reported, problems, [Symbol.dispose]: () => informer.stop() };
}

const versionsOf = (objects: Iterable<KubeObject>) =>
  [...objects].map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort();

/** Waits until the ConfigMaps reported by the informer equal those on the server. Calls `nudge` before each retry. */
async function untilCaughtUp(
  client: KubeClient,
  followed: ReturnType<typeof follow>,
  nudge: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  await until(async () => {
    const { items } = await client.list(CONFIG_MAPS, { namespace: NAMESPACE });
    if (versionsOf(followed.reported.values()).join() === versionsOf(items).join()) return true;
    await nudge();
    return false;
  });
  assert.deepEqual(versionsOf(followed.informer.list()), versionsOf(followed.reported.values()));
  assert.deepEqual(followed.problems, []);
}

describe('the client of an API server', () => {
  it('creates, reads, changes and deletes objects, and reports errors', async () => {
    await using cluster = await startCluster();
    await withClient(cluster.kubeconfig(cluster.adminCredential()), async (client) => {
      const created = await client.create<ConfigMap>(CONFIG_MAPS, configMap('one', { a: '1' }));
      await assert.rejects(client.create(CONFIG_MAPS, configMap('one')), (error) =>
        isApiStatus(error, 'AlreadyExists'),
      );
      const updated = await client.update<ConfigMap>(CONFIG_MAPS, { ...created, data: { a: '2' } } as ConfigMap);
      await assert.rejects(client.update(CONFIG_MAPS, created), (error) => isApiStatus(error, 'Conflict'));
      assert.deepEqual((await client.get<ConfigMap>(CONFIG_MAPS, place('one'))).data, updated.data);
      const bodies = { strategic: { data: { b: '3' } }, merge: { data: { a: null } }, json: [] } as const;
      for (const type of ['strategic', 'merge', 'json'] as const)
        await client.patch(CONFIG_MAPS, place('one'), { type, body: bodies[type] });
      assert.deepEqual((await client.get<ConfigMap>(CONFIG_MAPS, place('one'))).data, { b: '3' });
      const preconditions = { uid: '00000000-0000-0000-0000-000000000000' };
      const refused = client.delete(CONFIG_MAPS, place('one'), { preconditions });
      await assert.rejects(refused, (error) => isApiStatus(error, 409));
      await client.delete(CONFIG_MAPS, place('one'), { preconditions: { uid: created.metadata.uid } });
      await assert.rejects(client.get(CONFIG_MAPS, place('one')), (error) => isApiStatus(error, 'NotFound'));
      assert.equal(await client.getText('/readyz'), 'ok');
    });
  });

  it('lists in pages, deletes selections, and creates reviews', async () => {
    await using cluster = await startCluster();
    await withClient(cluster.kubeconfig(cluster.adminCredential()), async (client) => {
      for (const name of ['one', 'two', 'three']) {
        const { metadata, ...rest } = configMap(name);
        await client.create(CONFIG_MAPS, { ...rest, metadata: { ...metadata, labels: { test: 'pages' } } });
      }
      const selection = { namespace: NAMESPACE, labelSelector: 'test=pages' };
      const names: string[] = [];
      let from: string | undefined;
      do {
        const page = await client.list(CONFIG_MAPS, { ...selection, limit: 2, continue: from });
        names.push(...page.items.map(({ metadata }) => metadata.name!));
        from = page.metadata.continue;
      } while (from);
      assert.deepEqual(names, ['one', 'three', 'two']);
      await client.deleteCollection(CONFIG_MAPS, selection);
      assert.equal((await client.list(CONFIG_MAPS, selection)).items.length, 0);
      type Review = KubeObject & { spec: object; status?: { authenticated?: boolean } };
      const review = {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        metadata: {},
        spec: { token: 'x' },
      };
      const { status } = await client.create<Review>(TOKEN_REVIEWS, review);
      assert.notEqual(status?.authenticated, true);
    });
  });

  it('is restricted to the rights of its certificate', async () => {
    await using cluster = await startCluster();
    await withClient(cluster.kubeconfig(cluster.nodeCredential('one')), async (client) => {
      await assert.rejects(client.list(SECRETS, {}), (error) => isApiStatus(error, 'Forbidden'));
      await assert.rejects(client.get(NODES, { name: 'one' }), (error) => isApiStatus(error, 'NotFound'));
    });
    const stranger: Credential = { kind: 'token', token: 'not-a-token' };
    await withClient(cluster.kubeconfig(stranger), async (client) => {
      await assert.rejects(client.list(PODS, {}), (error) => isApiStatus(error, 'Unauthorized'));
    });
  });

  it('caches objects by a watch, including large ones', async () => {
    await using cluster = await startCluster();
    await withClient(cluster.kubeconfig(cluster.adminCredential()), async (client) => {
      await client.create(CONFIG_MAPS, configMap('before', { a: '1' }));
      using followed = follow(client);
      await followed.informer.synced;
      assert.ok(followed.reported.has('before'));
      await client.create(CONFIG_MAPS, configMap('large', { a: 'x'.repeat(1_000_000) }));
      await client.patch(CONFIG_MAPS, place('before'), { type: 'merge', body: { data: { a: '2' } } });
      await client.delete(CONFIG_MAPS, place('before'));
      await client.create(CONFIG_MAPS, configMap('before', { a: '3' }));
      await untilCaughtUp(client, followed);
      client.reconnect();
      await client.delete(CONFIG_MAPS, place('large'));
      await untilCaughtUp(client, followed);
    });
  });
});

const EXPIRED = { code: 410, reason: 'Expired', message: 'too old resource version: 1 (2)' };
const EXPIRED_EVENT = {
  type: 'ERROR',
  object: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...EXPIRED },
};

const FAULTS: [what: string, fault: Fault, times?: number][] = [
  ['end after an event', { kind: 'end-after', events: 1 }],
  ['are disconnected after two events', { kind: 'cut-after', events: 2 }],
  ['are disconnected within a line', { kind: 'cut-in-line', events: 1 }],
  ['are disconnected before they start', { kind: 'cut-before-headers' }, 1],
  ['end immediately', { kind: 'end-after', events: 0 }, 3],
  ['are too old', { kind: 'status', ...EXPIRED }, 3],
  ['are too old, reported by an event', { kind: 'status', code: 200, body: `${JSON.stringify(EXPIRED_EVENT)}\n` }, 3],
  ['repeat their events', { kind: 'repeat-events' }],
  ['swap their events', { kind: 'swap-events' }],
  ['are late', { kind: 'delay-events', ms: 30 }],
  ['are refused', { kind: 'status', code: 422, reason: 'Invalid' }, 2],
  ['are refused for a while', { kind: 'status', code: 429, reason: 'TooManyRequests', retryAfterSeconds: 0 }, 5],
  ['fail', { kind: 'status', code: 500, reason: 'InternalError' }, 2],
];

const NAMES = ['a', 'b', 'c'];

/** Makes one of 20 changes, which create, change and delete each object several times. */
async function write(client: KubeClient, step: number): Promise<void> {
  const name = NAMES[step % NAMES.length]!;
  const body = { data: { step: String(step) } };
  const existing = await client.list(CONFIG_MAPS, { namespace: NAMESPACE, fieldSelector: `metadata.name=${name}` });
  if (existing.items.length === 0) await client.create(CONFIG_MAPS, configMap(name));
  else if (step % 5 === 4) await client.delete(CONFIG_MAPS, place(name));
  else await client.patch(CONFIG_MAPS, place(name), { type: 'merge', body });
}

// these tests can run concurrently, because each has its own server
describe('an informer', { concurrency: true }, () => {
  for (const [what, fault, times] of FAULTS) {
    it(`catches up if watches ${what}, and never goes back`, async () => {
      const { cluster, own } = await startOwnCluster();
      await using _ = cluster;
      const kubeconfig = cluster.kubeconfig(cluster.adminCredential());
      // use a separate connection, because the watches' connections get cut
      await withClient(kubeconfig, async (writer) => {
        for (const name of NAMES) await writer.create(CONFIG_MAPS, configMap(name));
        const active = own.faults.add(fault, { verb: 'watch', resource: 'configmaps', times });
        await withClient(kubeconfig, async (client) => {
          using followed = follow(client);
          for (let step = 0; step < 20; step++) await write(writer, step);
          active.remove();
          // the server may hold back the first of two events until the second one occurs, so write again while waiting
          let nudges = 0;
          const patch = () => ({ type: 'merge' as const, body: { data: { nudges: String(nudges++) } } });
          await writer.create(CONFIG_MAPS, configMap('last'));
          await untilCaughtUp(client, followed, () => writer.patch(CONFIG_MAPS, place('last'), patch()));
        });
      });
    });
  }
});
