import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Logger } from '@podwright/base';
import { LocalObjects, type Pod } from '@podwright/kube-api';
import { CONFIG_MAPS, NODES, RUNTIME_CLASSES, SERVICES, startInformer } from '@podwright/kube-client';
import { FakeKubeClient } from '@podwright/kube-client/testing';
import { NEVER, podOf, until } from './fake-needs.fixture.ts';
import { PodNeeds } from './pod-needs.ts';

const LOGGER = { warn: () => undefined } as unknown as Logger;
const CONF = { name: 'conf', namespace: 'shop' };

function setUp(client: FakeKubeClient) {
  const changed: string[] = [];
  const needs = new PodNeeds({
    client,
    nodeName: 'n1',
    startInformer: (options) => startInformer(client, options),
    node: () => client.stored(NODES, { name: 'n1' }),
    changeDetection: 'Watch',
    logger: LOGGER,
  });
  const start = () => needs.start({ onObject: ({ name }) => changed.push(name), onNews: () => undefined });
  return { needs, changed, start, [Symbol.dispose]: () => needs.stop() };
}

const ofManifest = (pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, annotations: { 'kubernetes.io/config.source': 'file' } },
});

const pod = podOf('web', { runtimeClassName: 'fast', volumes: [{ name: 'v', configMap: { name: 'conf' } }] });

test('a node watches services with a cluster IP, RuntimeClasses and CSIDrivers, but nothing before the start', async () => {
  const client = new FakeKubeClient();
  using set = setUp(client);
  assert.equal(client.calls.length, 0);
  const informers = set.start();
  await Promise.all(Object.values(informers).map((informer) => 'synced' in informer && informer.synced));
  assert.deepEqual(
    client.callsOf({ verb: 'watch' }).map(({ plural, selection }) => [plural, selection?.fieldSelector]),
    [
      ['services', 'spec.clusterIP!=None'],
      ['csidrivers', undefined],
      ['runtimeclasses', undefined],
    ],
  );
  client.put(NODES, { metadata: { name: 'n1', labels: { zone: 'a' } } });
  assert.equal(set.needs.node()?.metadata.labels?.zone, 'a');
  set.needs.stop();
  await until(() => client.watches.size === 0);
});

test('static and API server pods have separate objects, but share the API server’s RuntimeClasses', async () => {
  const client = new FakeKubeClient();
  client.put(CONFIG_MAPS, { metadata: CONF, data: { from: 'api' } } as never);
  client.put(RUNTIME_CLASSES, { metadata: { name: 'fast' }, handler: 'crun' } as never);
  const local = new LocalObjects();
  local.replace([
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...CONF, uid: '' }, data: { from: 'manifest' } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { ...CONF, uid: '' } },
  ]);
  using set = setUp(client);
  set.start();
  const objects = set.needs.objects(local);
  for (const one of [pod, ofManifest(pod)]) await set.needs.ready(one, NEVER);
  const from = (one: Pod) => objects.of(one).get('ConfigMap', 'shop', 'conf')?.data?.from;
  assert.deepEqual([from(pod), from(ofManifest(pod))], ['api', 'manifest']);
  assert.throws(() => objects.of(pod).get('Secret', 'shop', 'conf'), /not registered/);
  for (const one of [pod, ofManifest(pod)])
    assert.equal(objects.of(one).get('RuntimeClass', '', 'fast')?.handler, 'crun');
  assert.equal(objects.of(pod).get('RuntimeClass', '', 'slow'), undefined);
  set.needs.release('uid-web');
  assert.throws(() => objects.of(pod).get('ConfigMap', 'shop', 'conf'), /not registered/);
});

test('an API server pod waits for services and fails without them, while a static pod continues', async () => {
  const client = new FakeKubeClient();
  client.put(SERVICES, {
    metadata: { name: 'kubernetes', namespace: 'default' },
    spec: { clusterIP: '10.0.0.1', ports: [{ port: 443 }] },
  } as never);
  using set = setUp(client);
  assert.throws(
    () => set.needs.serviceVariables(pod),
    /services have not yet been read at least once, cannot construct envvars/,
  );
  assert.equal(set.needs.serviceVariables(ofManifest(pod)).size, 0);
  set.start();
  await set.needs.ready(pod, NEVER);
  assert.equal(set.needs.serviceVariables(pod).get('KUBERNETES_SERVICE_HOST'), '10.0.0.1');
});
