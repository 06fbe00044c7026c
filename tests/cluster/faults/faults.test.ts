/** How each fault appears to a client, and that other requests are unaffected. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { waitFor, withTimeout } from '@podwright/base';
import { type Cluster, startOwnCluster } from '../cluster.fixture.ts';
import type { OwnControlPlane } from '../own-control-plane.fixture.ts';
import type { RawClient, RawEvent, RawWatch } from '../raw-client.fixture.ts';
import type { Fault } from './faults.ts';

const NAMESPACE = '/api/v1/namespaces/kube-node-lease';
const PATH = `${NAMESPACE}/secrets`;
const INITIAL = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

let cluster: Cluster;
let own: OwnControlPlane;
before(async () => {
  ({ cluster, own } = await startOwnCluster());
});
after(() => cluster[Symbol.asyncDispose]());

const secret = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } });

const other = (name = 'other') => cluster.client(cluster.certificate(name, ['system:masters']));

/** Runs `work` with a separate client, whose connection may be cut. */
async function withClient<T>(work: (client: RawClient) => Promise<T>): Promise<T> {
  const client = other();
  return await work(client).finally(() => client.close());
}

async function rest(watch: RawWatch): Promise<RawEvent[]> {
  const events: RawEvent[] = [];
  for (let event = await watch.next(); event !== undefined; event = await watch.next()) events.push(event);
  return events;
}

const typesOf = (events: RawEvent[]) =>
  events.map(({ type, object }) => `${type} ${object.metadata?.name ?? ''}`.trim());

describe('a response', () => {
  it('is the chosen error, for the chosen number of requests of the chosen user', async () => {
    const { admin } = cluster;
    const cases: [Fault & { kind: 'status' }, string | undefined][] = [
      [{ kind: 'status', code: 409, reason: 'Conflict' }, undefined],
      [{ kind: 'status', code: 429, reason: 'TooManyRequests', retryAfterSeconds: 7 }, '7'],
    ];
    for (const [fault, retryAfter] of cases) {
      own.faults.add(fault, { verb: 'create', resource: 'secrets', user: 'kubernetes-admin', times: 1 });
      await withClient(async (client) =>
        assert.equal((await client.create(PATH, secret(fault.reason!.toLowerCase()))).status, 201),
      );
      const { status, body, headers } = await admin.create(PATH, secret('one'));
      assert.deepEqual([status, body.reason, headers['retry-after']], [fault.code, fault.reason, retryAfter]);
    }
    assert.equal((await admin.create(PATH, secret('one'))).status, 201);
    own.faults.add({ kind: 'status', code: 503, body: 'no Status at all' });
    assert.equal((await admin.get('/version')).text, 'no Status at all');
    own.faults.clear();
    assert.equal((await admin.get('/version')).status, 200);
  });

  it('is lost before its headers, within its body, or after the write', async () => {
    const faults: [Fault, boolean][] = [
      [{ kind: 'cut-before-headers' }, false],
      [{ kind: 'lose-answer' }, true],
      [{ kind: 'cut-in-line' }, true],
    ];
    for (const [fault, isDone] of faults) {
      own.faults.add(fault, { verb: 'create', times: 1 });
      await withClient((client) => assert.rejects(client.create(PATH, secret(fault.kind)), fault.kind));
      const { status } = await cluster.admin.get(`${PATH}/${fault.kind}`);
      assert.equal(status, isDone ? 200 : 404, fault.kind);
    }
  });

  it('has other objects', async () => {
    const by = (object: { metadata: object }) => ({ ...object, extra: object.metadata });
    const active = own.faults.add({ kind: 'replace-objects', by }, { resource: 'namespaces' });
    const one = await cluster.admin.get('/api/v1/namespaces/default');
    assert.equal(one.body.extra.name, 'default');
    const all = await cluster.admin.get('/api/v1/namespaces?limit=1');
    assert.deepEqual([all.body.kind, all.body.items[0].extra.name], ['NamespaceList', 'default']);
    const watch = await cluster.admin.watch('/api/v1/namespaces?watch=1&fieldSelector=metadata.name%3Ddefault');
    assert.equal((await watch.next())?.object.extra.name, 'default');
    watch.close();
    active.remove();
  });
});

describe('a watch', () => {
  const selection = 'fieldSelector=metadata.namespace%3Dkube-public';
  it('is disconnected after events, within a line, or ends', async () => {
    for (const name of ['a', 'b']) await cluster.admin.create('/api/v1/namespaces/kube-public/secrets', secret(name));
    const cases: [Fault, string[], boolean][] = [
      [{ kind: 'cut-after', events: 1 }, ['ADDED a'], false],
      [{ kind: 'end-after', events: 2 }, ['ADDED a', 'ADDED b'], false],
      [{ kind: 'cut-in-line', events: 1 }, ['ADDED a'], true],
      [{ kind: 'end-after', events: 0 }, [], false],
    ];
    for (const [fault, expected, hasRest] of cases) {
      own.faults.add(fault, { verb: 'watch', query: 'kube-public', times: 1 });
      await withClient(async (client) => {
        const watch = await client.watch(`/api/v1/secrets?${INITIAL}&${selection}`);
        assert.deepEqual(typesOf(await rest(watch)), expected, fault.kind);
        assert.equal(watch.rest !== '', hasRest, fault.kind);
      });
    }
  });

  it('receives events late, twice, or in another order', async () => {
    const cases: [Fault, string[]][] = [
      [{ kind: 'repeat-events' }, ['ADDED x', 'ADDED x', 'ADDED y', 'ADDED y']],
      [{ kind: 'swap-events' }, ['ADDED y', 'ADDED x']],
      [{ kind: 'delay-events', ms: 200 }, ['ADDED x', 'ADDED y']],
    ];
    for (const [fault, expected] of cases) {
      const active = own.faults.add(fault, { verb: 'watch' });
      const { resourceVersion } = (await cluster.admin.get(PATH)).body.metadata;
      const watch = await cluster.admin.watch(`${PATH}?watch=1&resourceVersion=${resourceVersion}`);
      active.remove();
      const begin = performance.now();
      for (const name of ['x', 'y']) await cluster.admin.create(PATH, secret(name));
      assert.deepEqual(await watch.names(expected.length), expected, fault.kind);
      if (fault.kind === 'delay-events') assert.ok(performance.now() - begin >= 195);
      watch.close();
      for (const name of ['x', 'y']) await cluster.admin.delete(`${PATH}/${name}`);
    }
  });
});

describe('a control plane', () => {
  it('refuses connections while it is paused, and continues with the same objects', async () => {
    await cluster.admin.create(PATH, secret('stays'));
    const { url } = own;
    const watch = await cluster.admin.watch(`${PATH}?watch=1`);
    await own.pause();
    await rest(watch);
    await withClient((client) => assert.rejects(client.get('/version'), /ECONNREFUSED/));
    await own.resume();
    assert.equal(own.url, url);
    await withClient(async (client) => assert.equal((await client.get(`${PATH}/stays`)).status, 200));
  });

  it('returns with older objects, and versions that clients have already seen', async () => {
    const backup = await own.backup();
    const seen = await withClient(async (client) => (await client.create(PATH, secret('lost'))).body.metadata);
    await own.pause();
    await own.restore(backup);
    await own.resume();
    await withClient(async (client) => {
      assert.equal((await client.get(`${PATH}/lost`)).status, 404);
      const { resourceVersion } = (await client.create(PATH, secret('next'))).body.metadata;
      assert.ok(Number(resourceVersion) < Number(seen.resourceVersion) + 100);
    });
  });

  it('records requests and responses', () =>
    withClient(async (client) => {
      own.requests.clear();
      const labels = { metadata: { labels: { a: 'b' } } };
      const answer = await client.patch(`${PATH}/stays?fieldManager=me`, 'merge', labels);
      await client.get(`${PATH}/none`);
      const [patch, get] = own.requests.all;
      using signal = withTimeout(undefined, 10_000, 'wait for the end of the response');
      await waitFor(() => patch!.isOver || undefined, { intervalMs: 1, signal });
      assert.deepEqual(patch, {
        ...{ method: 'PATCH', query: 'fieldManager=me', verb: 'patch', resource: 'secrets' },
        ...{ namespace: 'kube-node-lease', name: 'stays', user: 'other', body: JSON.stringify(labels), status: 200 },
        ...{ responseBytes: Buffer.byteLength(answer.text), isOver: true },
      });
      assert.equal(get?.status, 404);
      const wait = own.requests.waitFor({ resource: 'services' });
      await client.get('/api/v1/services');
      assert.equal((await wait).verb, 'list');
    }));
});
