import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, LocalObjectChange } from '@podwright/kube-api';
import { CONFIG_MAPS, SECRETS, startInformer } from '@podwright/kube-client';
import { FakeKubeClient, refusal } from '@podwright/kube-client/testing';
import { NEVER, podOf, until } from './fake-needs.fixture.ts';
import { ObjectCache } from './object-cache.ts';
import { fetchObjects, watchObjects } from './object-feeds.ts';

const QUICK = { backoff: { initialMs: 1, maxMs: 2 }, silenceMs: 200 };

type Content = KubeObject & { data?: Record<string, unknown>; immutable?: boolean };

const object = (name: string, rest: Partial<Content> = {}): Content => ({
  data: { key: 'value' },
  ...rest,
  metadata: { namespace: 'shop', name },
});

/** Creates an `ObjectCache` that watches its objects, and a list that records the changes it reports as `Kind name: users`. */
function watching(client: FakeKubeClient) {
  const changed: string[] = [];
  const onChange = ({ kind, name, users }: LocalObjectChange) => {
    changed.push(`${kind} ${name}: ${[...users!].sort().join(' ')}`);
  };
  const cache = new ObjectCache({ feed: watchObjects((options) => startInformer(client, options, QUICK)), onChange });
  return { cache, changed, [Symbol.dispose]: () => cache.stop() };
}

const usesConfig = (name: string, config: string) =>
  podOf(name, { volumes: [{ name: 'conf', configMap: { name: config } }] });

test('each object referenced by pods has one watch, until the last of those pods is removed', async () => {
  const client = new FakeKubeClient();
  client.put(CONFIG_MAPS, object('conf'));
  for (let index = 0; index < 5000; index++) client.put(SECRETS, object(`other-${index}`));
  using started = watching(client);
  const { cache } = started;
  await Promise.all([cache.ready(usesConfig('a', 'conf'), NEVER), cache.ready(usesConfig('b', 'conf'), NEVER)]);
  assert.equal(cache.get('ConfigMap', 'shop', 'conf')?.data?.key, 'value');
  const watches = client.callsOf({ verb: 'watch' });
  assert.deepEqual(
    watches.map(({ plural, selection }) => [plural, selection?.namespace, selection?.fieldSelector]),
    [['configmaps', 'shop', 'metadata.name=conf']],
  );
  const [{ options } = assert.fail('no watch')] = [...client.watches];
  assert.ok(options.timeoutSeconds >= 1800 && options.timeoutSeconds <= 3600, String(options.timeoutSeconds));
  cache.release('uid-a');
  cache.release('uid-a');
  assert.equal(client.watches.size, 1);
  cache.release('uid-b');
  await until(() => client.watches.size === 0);
  assert.throws(() => cache.get('ConfigMap', 'shop', 'conf'), /object "shop"\/"conf" not registered/);
});

test('all objects referenced by a pod are watched, until they are no longer referenced', async () => {
  const client = new FakeKubeClient();
  using started = watching(client);
  const pod = podOf('a', {
    imagePullSecrets: [{ name: 'pull' }, { name: '' }],
    containers: [
      {
        name: 'main',
        image: 'app',
        envFrom: [{ configMapRef: { name: 'all' } }, { secretRef: { name: 'all-secret' } }],
        env: [{ name: 'X', valueFrom: { secretKeyRef: { name: 'one-secret', key: 'x' } } }],
      },
    ],
    volumes: [
      { name: 'v', projected: { sources: [{ configMap: { name: 'ca' } }, { secret: { name: 'tls' } }] } },
      { name: 's', secret: { secretName: 'plain' } },
    ],
  });
  await started.cache.ready(pod, NEVER);
  const watched = () =>
    [...client.watches].map(({ resource, options }) => `${resource.plural} ${options.fieldSelector?.slice(14)}`).sort();
  assert.deepEqual(watched(), [
    ...['configmaps all', 'configmaps ca'],
    ...['secrets all-secret', 'secrets one-secret', 'secrets plain', 'secrets pull', 'secrets tls'],
  ]);
  await started.cache.ready(podOf('a', { imagePullSecrets: [{ name: 'pull' }] }), NEVER);
  await until(() => watched().join() === 'secrets pull');
});

test('a missing object is undefined, and its users are notified when it appears, changes or is deleted', async () => {
  const client = new FakeKubeClient();
  using started = watching(client);
  const { cache, changed } = started;
  await cache.ready(usesConfig('a', 'late'), NEVER);
  assert.equal(cache.get('ConfigMap', 'shop', 'late'), undefined);
  client.put(CONFIG_MAPS, object('late'));
  await until(() => changed.length === 1);
  assert.equal(cache.get('ConfigMap', 'shop', 'late')?.data?.key, 'value');
  client.put(CONFIG_MAPS, object('late', { data: { key: 'new' } }));
  await until(() => changed.length === 2);
  assert.equal(cache.get('ConfigMap', 'shop', 'late')?.data?.key, 'new');
  client.remove(CONFIG_MAPS, { namespace: 'shop', name: 'late' });
  await until(() => changed.length === 3);
  assert.equal(cache.get('ConfigMap', 'shop', 'late'), undefined);
  assert.deepEqual(changed, Array(3).fill('ConfigMap late: uid-a'));
});

test('a forbidden object is an error with upstream’s message, unlike a missing one', async () => {
  const client = new FakeKubeClient();
  client.put(SECRETS, object('closed'));
  const forbidden = refusal(403, 'Forbidden', 'secrets "closed" is forbidden: no relationship found');
  let isOpen = false;
  client.script({ verb: 'watch' }, ...Array(100_000).fill(() => (isOpen ? undefined : Promise.reject(forbidden))));
  client.script({ verb: 'list' }, ...Array(100_000).fill(() => (isOpen ? undefined : Promise.reject(forbidden))));
  using started = watching(client);
  const { cache, changed } = started;
  const pod = podOf('a', { volumes: [{ name: 's', secret: { secretName: 'closed' } }] });
  const begun = performance.now();
  await cache.ready(pod, NEVER);
  assert.ok(performance.now() - begun > 900, 'it waits a second for the first answer');
  assert.throws(
    () => cache.get('Secret', 'shop', 'closed'),
    /failed to sync secret cache: timed out waiting for the condition: .*secrets "closed" is forbidden/,
  );
  const again = performance.now();
  await cache.ready(pod, NEVER);
  assert.ok(performance.now() - again < 500, 'and for no later one');
  isOpen = true;
  await until(() => changed.length === 1);
  assert.equal(cache.get('Secret', 'shop', 'closed')?.data?.key, 'value');
});

test('the watch of an immutable object ends once it has been read, and the cached object does not change', async () => {
  const client = new FakeKubeClient();
  client.put(CONFIG_MAPS, object('fixed', { immutable: true }));
  using started = watching(client);
  await started.cache.ready(usesConfig('a', 'fixed'), NEVER);
  client.put(CONFIG_MAPS, object('fixed', { data: { key: 'other' } }));
  await started.cache.ready(usesConfig('b', 'fixed'), NEVER);
  assert.equal(started.cache.get('ConfigMap', 'shop', 'fixed')?.data?.key, 'value');
  assert.equal(client.callsOf({ verb: 'watch' }).length, 1);
});

test('an object is served from the cache while the API server is unavailable', async () => {
  const client = new FakeKubeClient();
  client.put(CONFIG_MAPS, object('conf'));
  using started = watching(client);
  await started.cache.ready(usesConfig('a', 'conf'), NEVER);
  client.script({ verb: 'watch' }, ...Array(10).fill(new Error('connect ECONNREFUSED')));
  client.close();
  await client.waitForCalls({ verb: 'watch' }, 3);
  await started.cache.ready(usesConfig('b', 'conf'), NEVER);
  assert.equal(started.cache.get('ConfigMap', 'shop', 'conf')?.data?.key, 'value');
});

test('a 1.5 MB object is cached; a malformed object is an error that includes its name', async () => {
  const client = new FakeKubeClient();
  client.put(CONFIG_MAPS, object('large', { data: { text: 'x'.repeat(1_500_000) } }));
  client.put(CONFIG_MAPS, object('wrong', { data: { number: 1 } }));
  client.put(CONFIG_MAPS, { ...object('null'), data: null } as unknown as Content);
  using started = watching(client);
  const { cache } = started;
  for (const name of ['large', 'wrong', 'null']) await cache.ready(usesConfig(name, name), NEVER);
  assert.equal(cache.get('ConfigMap', 'shop', 'large')?.data?.text?.length, 1_500_000);
  assert.deepEqual(cache.get('ConfigMap', 'shop', 'null')?.data, undefined);
  assert.throws(() => cache.get('ConfigMap', 'shop', 'wrong'), /ConfigMap shop\/wrong is malformed: data is not a map/);
});

test('Cache re-reads an object once it is too old, and keeps the old one if that fails; Get reads every time', async () => {
  const client = new FakeKubeClient();
  client.put(CONFIG_MAPS, object('conf'));
  let ttlMs = 60_000;
  const changed: string[] = [];
  const cache = new ObjectCache({
    feed: fetchObjects(client, () => ttlMs),
    onChange: ({ name }) => changed.push(name),
  });
  const pod = usesConfig('a', 'conf');
  await cache.ready(pod, NEVER);
  await cache.ready(pod, NEVER);
  assert.equal(client.callsOf({ verb: 'get' }).length, 1);
  ttlMs = 0;
  client.put(CONFIG_MAPS, object('conf', { data: { key: 'new' } }));
  await cache.ready(pod, NEVER);
  assert.equal(cache.get('ConfigMap', 'shop', 'conf')?.data?.key, 'new');
  assert.deepEqual(changed, ['conf']);
  client.script({ verb: 'get' }, refusal(500, 'InternalError'));
  await cache.ready(pod, NEVER);
  assert.equal(cache.get('ConfigMap', 'shop', 'conf')?.data?.key, 'new');
  client.remove(CONFIG_MAPS, { namespace: 'shop', name: 'conf' });
  await cache.ready(pod, NEVER);
  assert.equal(cache.get('ConfigMap', 'shop', 'conf'), undefined);
  assert.equal(client.callsOf({ verb: 'watch' }).length, 0);
});
