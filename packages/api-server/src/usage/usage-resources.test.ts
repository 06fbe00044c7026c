import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import { isApiStatus, type KubeClient, NODES, PODS } from '@podwright/kube-client';
import { type ApiServer, startApiServer } from '../start-api-server.ts';
import { decodeUse } from './node-summaries.ts';

const TIME = '2026-01-01T00:00:00Z';
const ADMIN = { username: 'admin', groups: ['system:masters', 'system:authenticated'] };
const SELECTOR = { labelSelector: 'app=web' };

const stats = (cpu: unknown, bytes: unknown) => ({
  cpu: { time: TIME, usageNanoCores: cpu },
  memory: { time: TIME, workingSetBytes: bytes },
});

const podStats = (name: string, ...containers: object[]) => ({ podRef: { namespace: 'default', name }, containers });

const SUMMARY = {
  node: { nodeName: 'n1', ...stats(1_500_000_000, 3 << 20) },
  pods: [
    podStats('web', { name: 'main', ...stats(250_000_000, 2048) }, { name: 'side', ...stats(0, 1000) }),
    podStats('young', { name: 'main', ...stats(undefined, 2048) }),
    podStats('elsewhere', { name: 'main', ...stats(1, 2048) }),
  ],
};

const refused = (code: number) => (error: unknown) => isApiStatus(error, code);

/** A server whose local node has the pods `web` and `young`; `elsewhere` is on a different node. */
class Place implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'usage-'));
  readonly asked: string[] = [];
  summary: object = SUMMARY;
  server!: ApiServer;
  admin!: KubeClient;

  async start(): Promise<this> {
    const kubelet = createServer((request, response) => {
      this.asked.push(request.url!);
      response.end(JSON.stringify(this.summary));
    });
    this.server = await startApiServer({
      directory: join(this.#directory, 'data'),
      socketPath: join(this.#directory, 'api.sock'),
      localKubelet: () => ({ nodeName: 'n1', serve: (connection) => void kubelet.emit('connection', connection) }),
      logger: silentLogger,
    });
    this.admin = this.server.client(ADMIN);
    await this.#node('n1');
    await this.#node('n2');
    await this.#pod('web', 'n1');
    await this.#pod('young', 'n1');
    await this.#pod('elsewhere', 'n2');
    return this;
  }

  async #node(name: string): Promise<void> {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
    const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }];
    const created = await this.admin.create<KubeObject>(NODES, node);
    const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: 1 } } };
    await this.admin.update(
      NODES,
      { ...created, ...node, metadata: created.metadata, ...{ status } },
      { subresource: 'status' },
    );
  }

  async #pod(name: string, nodeName: string): Promise<void> {
    const spec = { nodeName, containers: [{ name: 'main', image: 'i' }] };
    const metadata = { namespace: 'default', name, labels: { app: name } };
    await this.admin.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata, ...{ spec } });
  }

  async get(path: string, client = this.admin) {
    return JSON.parse(await client.getText(path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
    rmSync(this.#directory, { recursive: true });
  }
}

test('the usage of pods and nodes comes from their kubelets', async () => {
  await using place = await new Place().start();
  for (const version of ['v1', 'v1beta1']) {
    const base = `/apis/metrics.k8s.io/${version}`;
    const { items, ...list } = await place.get(`${base}/pods`);
    assert.deepEqual([list.kind, list.apiVersion], ['PodMetricsList', `metrics.k8s.io/${version}`]);
    assert.equal(items.length, 1, 'neither a pod without a rate, nor one of another node');
    const [{ metadata, ...rest }] = items;
    assert.deepEqual([metadata.name, metadata.namespace, metadata.labels], ['web', 'default', { app: 'web' }]);
    const containers = [
      { name: 'main', usage: { cpu: '250000000n', memory: '2Ki' } },
      { name: 'side', usage: { cpu: '0', memory: '1000' } },
    ];
    const { kind, apiVersion, ...values } = rest;
    assert.deepEqual(values, { timestamp: TIME, window: '10s', containers });
    const nodes = await place.get(`${base}/nodes`);
    assert.deepEqual(
      nodes.items.map((one: { metadata: KubeObject['metadata']; usage: object }) => [one.metadata.name, one.usage]),
      [['n1', { cpu: '1500000000n', memory: '3072Ki' }]],
      'a node that does not answer is left out',
    );
  }
  assert.deepEqual(new Set(place.asked), new Set(['/stats/summary?only_cpu_and_memory=true']));
});

test('objects are selected by name, namespace and labels', async () => {
  await using place = await new Place().start();
  const base = '/apis/metrics.k8s.io/v1beta1';
  const names = async (path: string) =>
    (await place.get(base + path)).items.map((one: KubeObject) => one.metadata.name);
  assert.deepEqual(await names(`/namespaces/default/pods?${new URLSearchParams(SELECTOR)}`), ['web']);
  assert.deepEqual(await names('/namespaces/default/pods?labelSelector=app%21%3Dweb'), []);
  assert.deepEqual(await names('/namespaces/other/pods'), []);
  assert.deepEqual(await names('/pods?fieldSelector=metadata.name%3Dweb'), ['web']);
  assert.deepEqual(await names('/namespaces/default/pods?fieldSelector=metadata.name%21%3Dweb'), []);
  assert.deepEqual(await names('/pods?fieldSelector=metadata.name%3Dweb,metadata.namespace%3Dother'), []);
  assert.deepEqual(await names('/pods?fieldSelector=metadata.namespace%3Ddefault'), ['web']);
  assert.deepEqual(await names('/nodes?fieldSelector=metadata.name%3Dn2'), []);
  await assert.rejects(place.get(`${base}/pods?fieldSelector=spec.nodeName%3Dn1`), refused(400));
  const one = await place.get(`${base}/namespaces/default/pods/web`);
  assert.deepEqual([one.kind, one.metadata.name], ['PodMetrics', 'web']);
  await assert.rejects(place.get(`${base}/namespaces/default/pods/young`), refused(404));
  await assert.rejects(place.get(`${base}/pods/web`), refused(404));
  await assert.rejects(place.get(`${base}/pods?watch=true`), refused(405));
});

test('discovery includes the group, and its APIServices are local', async () => {
  await using place = await new Place().start();
  const { resources } = await place.get('/apis/metrics.k8s.io/v1beta1');
  assert.deepEqual(
    resources.map((one: { name: string; kind: string; verbs: string[] }) => [one.name, one.kind, one.verbs.join()]),
    [
      ['nodes', 'NodeMetrics', 'get,list'],
      ['pods', 'PodMetrics', 'get,list'],
    ],
  );
  const path = '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io';
  const probe = () => place.get(path).catch((error: unknown) => assert.ok(isApiStatus(error, 404)));
  const service = await waitFor(async () => (await probe()) ?? undefined, {
    ...{ intervalMs: 5, signal: AbortSignal.timeout(10_000) },
  });
  assert.equal(service.status.conditions[0].reason, 'Local');
  await assert.rejects(place.get('/apis/apiregistration.k8s.io/v1/apiservices/v1.absent'), refused(404));
});

test('users who may view a namespace may read the usage of its pods', async () => {
  await using place = await new Place().start();
  const role = await place.get('/apis/rbac.authorization.k8s.io/v1/clusterroles/system:aggregated-metrics-reader');
  assert.equal(role.metadata.labels['rbac.authorization.k8s.io/aggregate-to-view'], 'true');
  const stranger = place.server.client({ username: 'eve', groups: ['system:authenticated'] });
  await assert.rejects(place.get('/apis/metrics.k8s.io/v1beta1/nodes', stranger), refused(403));
});

test('summaries with wrong types yield no usage', () => {
  const none = { node: undefined, pods: [] };
  for (const wrong of [null, 'x', [], { pods: 1 }, { pods: [null, {}, { podRef: {} }] }, { node: { cpu: 1 } }])
    assert.deepEqual(decodeUse(wrong), none);
  const containers = [{ name: 'c', ...stats(-1, 1) }];
  assert.deepEqual(decodeUse({ pods: [{ podRef: { namespace: 'a', name: 'b' }, containers }] }), none);
});

test('a node whose answer has too many values, which take seconds to parse, yields no usage', async () => {
  await using place = await new Place().start();
  place.summary = { ...SUMMARY, more: Array(300_000).fill([]) };
  assert.deepEqual((await place.get('/apis/metrics.k8s.io/v1beta1/nodes')).items, []);
});

test('a node without heartbeats is not queried, so that clients do not wait for it', async () => {
  await using place = await new Place().start();
  const conditions = [{ type: 'Ready', status: 'Unknown' }];
  const patch = { type: 'merge' as const, body: { status: { conditions } }, subresource: 'status' };
  await place.admin.patch(NODES, { name: 'n1' }, patch);
  for (const resource of ['nodes', 'pods'])
    assert.deepEqual((await place.get(`/apis/metrics.k8s.io/v1beta1/${resource}`)).items, []);
  assert.deepEqual(place.asked, []);
});
