import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeKubeClient, refusal } from '../fake-kube-client.fixture.ts';
import type { InformerChange } from '../informer.ts';
import type { KubeObject } from '../kube-object.ts';
import { CONFIG_MAPS } from '../resources.ts';
import { startInformer } from './start-informer.ts';

const QUICK = { backoff: { initialMs: 1, maxMs: 2 }, silenceMs: 200 };

function object(name: string, rest: Partial<KubeObject['metadata']> = {}): KubeObject {
  return { metadata: { namespace: 'shop', name, uid: `uid-${name}`, ...rest } };
}

/** An informer whose changes are told as `ADDED name`. */
function start(client: FakeKubeClient, selection: { namespace?: string; fieldSelector?: string } = {}) {
  const told: string[] = [];
  const onChange = ({ type, object: { metadata } }: InformerChange<KubeObject>) => {
    told.push(`${type} ${metadata.name}@${metadata.resourceVersion}`);
  };
  const informer = startInformer<KubeObject>(client, { ...selection, resource: CONFIG_MAPS, onChange }, QUICK);
  return { informer, told, [Symbol.dispose]: () => informer.stop() };
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!condition()) {
    assert.ok(performance.now() < deadline, 'not within 30 s');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('the first objects come by a watch, and what changes after them', async () => {
  const client = new FakeKubeClient();
  client.put(CONFIG_MAPS, object('a'));
  using started = start(client);
  await started.informer.synced;
  assert.deepEqual(started.told, ['ADDED a@101']);
  client.put(CONFIG_MAPS, object('b'));
  client.put(CONFIG_MAPS, object('a'));
  client.remove(CONFIG_MAPS, { namespace: 'shop', name: 'a' });
  await until(() => started.told.length === 4);
  assert.deepEqual(started.told.slice(1), ['ADDED b@102', 'MODIFIED a@103', 'DELETED a@104']);
  assert.deepEqual(started.informer.get({ namespace: 'shop', name: 'b' })?.metadata.name, 'b');
  assert.equal(client.callsOf({ verb: 'list' }).length, 0);
});

test('a server that refuses initial events is listed', async () => {
  const client = new FakeKubeClient();
  client.put(CONFIG_MAPS, object('a'));
  client.script({ verb: 'watch' }, refusal(422, 'Invalid'));
  using started = start(client);
  await started.informer.synced;
  await client.waitForCalls({ verb: 'watch' }, 2);
  assert.deepEqual(client.callsOf({ verb: 'list' })[0]!.selection?.resourceVersion, '0');
  assert.deepEqual(client.callsOf({ verb: 'watch' })[1]!.selection?.resourceVersion, '101');
});
