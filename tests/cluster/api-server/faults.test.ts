/** Each fault as a client sees it, and that it does not affect other requests. */
import assert from 'node:assert/strict';
import { request } from 'node:https';
import { describe, it } from 'node:test';
import { setTimeout as after } from 'node:timers/promises';
import { RawClient, type RawEvent, type RawWatch } from '../raw-client.fixture.ts';
import { type ApiServer, type ApiServerOptions, startApiServer } from './api-server.ts';
import type { Fault } from './faults.ts';

const PATH = '/api/v1/namespaces/default/configmaps';
const INITIAL = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

type Ready = { server: ApiServer; api: RawClient; other: RawClient };

/** A server, an administrator, and another user with all rights who is not affected. */
async function withServer(work: (ready: Ready) => Promise<void>, options: ApiServerOptions = {}): Promise<void> {
  const server = await startApiServer(options);
  const api = new RawClient(server, server.admin());
  const other = new RawClient(server, server.certificate('other', ['system:masters']));
  try {
    await work({ server, api, other });
  } finally {
    api.close();
    other.close();
    await server.stop();
  }
}

const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { key: 'value' },
});

async function rest(watch: RawWatch): Promise<RawEvent[]> {
  const events: RawEvent[] = [];
  for (let event = await watch.next(); event !== undefined; event = await watch.next()) events.push(event);
  return events;
}

const typesOf = (events: RawEvent[]) =>
  events.map(({ type, object }) => `${type} ${object.metadata?.name ?? ''}`.trim());

describe('an answer', () => {
  it('is the chosen error, for the chosen number of requests of the chosen user', () =>
    withServer(async ({ server, api, other }) => {
      const mine = { verb: 'create', resource: 'configmaps', user: 'kubernetes-admin' };
      const cases: [Fault & { kind: 'status' }, string | undefined][] = [
        [{ kind: 'status', code: 409, reason: 'Conflict' }, undefined],
        [{ kind: 'status', code: 403, reason: 'Forbidden' }, undefined],
        [{ kind: 'status', code: 410, reason: 'Expired' }, undefined],
        [{ kind: 'status', code: 429, reason: 'TooManyRequests', retryAfterSeconds: 7 }, '7'],
        [{ kind: 'status', code: 500, reason: 'InternalError' }, undefined],
      ];
      for (const [fault, retryAfter] of cases) {
        server.faults.add(fault, { ...mine, times: 1 });
        assert.equal((await other.get(PATH)).status, 200);
        const answer = await api.create(PATH, configMap('one'));
        assert.deepEqual(
          [answer.status, answer.body.reason, answer.headers['retry-after']],
          [fault.code, fault.reason, retryAfter],
        );
      }
      assert.equal((await api.create(PATH, configMap('one'))).status, 201);
      server.faults.add({ kind: 'status', code: 503, body: 'no Status at all' });
      assert.equal((await api.get('/version')).text, 'no Status at all');
      server.faults.clear();
      assert.equal((await api.get('/version')).status, 200);
    }));

  it('is lost before its headers, within its body, or after the write', () =>
    withServer(async ({ server }) => {
      const fresh = () => new RawClient(server, server.admin());
      const faults: [Fault, boolean][] = [
        [{ kind: 'cut-before-headers' }, false],
        [{ kind: 'lose-answer' }, true],
        [{ kind: 'cut-in-line' }, true],
      ];
      for (const [fault, isDone] of faults) {
        const name = fault.kind;
        server.faults.add(fault, { verb: 'create', times: 1 });
        const client = fresh();
        await assert.rejects(client.create(PATH, configMap(name)), name);
        client.close();
        const next = fresh();
        assert.equal((await next.get(`${PATH}/${name}`)).status, isDone ? 200 : 404, name);
        next.close();
      }
    }));

  it('is delayed', () =>
    withServer(async ({ server, api }) => {
      server.faults.add({ kind: 'late', ms: 300 }, { resource: 'configmaps', times: 1 });
      const begin = performance.now();
      assert.equal((await api.get(PATH)).status, 200);
      assert.ok(performance.now() - begin >= 295);
    }));
});

describe('a watch', () => {
  it('is disconnected after events, within a line, or ends', () =>
    withServer(async ({ server }) => {
      server.seed(configMap('a'), configMap('b'));
      const cases: [Fault, string[], boolean][] = [
        [{ kind: 'cut-after', events: 1 }, ['ADDED a'], false],
        [{ kind: 'end-after', events: 2 }, ['ADDED a', 'ADDED b'], false],
        [{ kind: 'cut-in-line', events: 1 }, ['ADDED a'], true],
        [{ kind: 'empty-stream', close: true }, [], false],
      ];
      for (const [fault, expected, hasRest] of cases) {
        server.faults.add(fault, { verb: 'watch', times: 1 });
        const client = new RawClient(server, server.admin());
        const watch = await client.watch(`${PATH}?${INITIAL}&fieldSelector=metadata.name!%3Dkube-root-ca.crt`);
        assert.deepEqual(typesOf(await rest(watch)), expected, fault.kind);
        assert.equal(watch.rest !== '', hasRest, fault.kind);
        client.close();
      }
    }));

  it('never receives the end of the initial events', () =>
    withServer(async ({ server, api }) => {
      server.faults.add({ kind: 'no-initial-end' }, { verb: 'watch', times: 1 });
      const watch = await api.watch(`${PATH}?${INITIAL}&timeoutSeconds=1`);
      assert.deepEqual(typesOf(await rest(watch)), ['ADDED kube-root-ca.crt']);
    }));

  it('is too old, by its status or within the stream', () =>
    withServer(async ({ server, api }) => {
      server.faults.add({ kind: 'expired', as: 'status' }, { verb: 'watch', times: 1 });
      assert.equal((await api.get(`${PATH}?${INITIAL}`)).status, 410);
      server.faults.add({ kind: 'expired', as: 'event' }, { verb: 'watch', times: 1 });
      const [event, ...more] = await rest(await api.watch(`${PATH}?${INITIAL}`));
      assert.deepEqual(
        [event?.type, event?.object.code, event?.object.reason, more.length],
        ['ERROR', 410, 'Expired', 0],
      );
    }));

  it('receives events late, twice, or in another order', () =>
    withServer(async ({ server, api, other }) => {
      const cases: [Fault, string[]][] = [
        [{ kind: 'repeat-events' }, ['ADDED a', 'ADDED a', 'ADDED b', 'ADDED b']],
        [{ kind: 'swap-events' }, ['ADDED b', 'ADDED a']],
        [{ kind: 'delay-events', ms: 200 }, ['ADDED a', 'ADDED b']],
      ];
      for (const [fault, expected] of cases) {
        const active = server.faults.add(fault, { verb: 'watch', times: 1 });
        const version = server.registry.store.revision;
        const watch = await api.watch(`${PATH}?watch=1&resourceVersion=${version}`);
        active.remove();
        const begin = performance.now();
        for (const name of ['a', 'b']) await other.create(PATH, configMap(name));
        assert.deepEqual(await watch.names(expected.length), expected, fault.kind);
        if (fault.kind === 'delay-events') assert.ok(performance.now() - begin >= 195);
        watch.close();
        for (const name of ['a', 'b']) await other.delete(`${PATH}/${name}`);
      }
    }));

  it('from a compacted version fails as too old', () =>
    withServer(
      async ({ server, api }) => {
        const version = server.registry.store.revision;
        for (const name of ['a', 'b', 'c', 'd']) server.seed(configMap(name));
        const watch = await api.watch(`${PATH}?watch=1&resourceVersion=${version}`);
        const [event] = await rest(watch);
        assert.match(event?.object.message, new RegExp(`^too old resource version: ${version} \\(\\d+\\)$`));
        server.registry.store.compact();
        const late = await rest(await api.watch(`${PATH}?watch=1&resourceVersion=${version + 3}`));
        assert.equal(late[0]?.object.code, 410);
        const present = await api.watch(
          `${PATH}?watch=1&resourceVersion=${server.registry.store.revision}&timeoutSeconds=1`,
        );
        assert.deepEqual(await rest(present), []);
      },
      { historySize: 3 },
    ));
});

describe('a server', () => {
  it('refuses connections while it is stopped, and continues with the same state', () =>
    withServer(async ({ server, api }) => {
      const { port } = server;
      const watch = await api.watch(`${PATH}?watch=1`);
      await server.stop();
      await rest(watch);
      const stranger = new RawClient(server, server.admin());
      await assert.rejects(stranger.get('/version'), /ECONNREFUSED/);
      server.seed(configMap('meanwhile'));
      await server.start();
      assert.equal(server.port, port);
      const back = new RawClient(server, server.admin());
      assert.equal((await back.get(`${PATH}/meanwhile`)).status, 200);
      back.close();
    }));

  it('returns with an older state, in which clients’ versions have other contents', () =>
    withServer(async ({ server }) => {
      const snapshot = server.snapshot();
      const token = server.token({ username: 'somebody', groups: ['system:masters'] });
      server.seed(configMap('lost'));
      const seen = server.registry.store.revision;
      await server.stop();
      server.restore(snapshot);
      await server.start();
      const client = new RawClient(server, token);
      assert.equal((await client.get(`${PATH}/lost`)).status, 404);
      const list = await client.get(PATH);
      assert.ok(Number(list.body.metadata.resourceVersion) < seen);
      const old = await rest(await client.watch(`${PATH}?watch=1&resourceVersion=1`));
      assert.equal(old[0]?.object.code, 410);
      // A client that is ahead receives nothing until the counter has passed its version.
      const watch = await client.watch(`${PATH}?${INITIAL}&resourceVersion=${seen + 1}`);
      assert.deepEqual(await watch.names(1), ['ADDED kube-root-ca.crt']);
      server.seed(configMap('a'), configMap('b'));
      assert.deepEqual(await watch.names(3), ['ADDED a', 'ADDED b', 'BOOKMARK']);
      client.close();
    }));

  it('records requests and responses', () =>
    withServer(async ({ server, api }) => {
      server.requests.clear();
      const answer = await api.patch(`${PATH}/kube-root-ca.crt?fieldManager=me`, 'merge', {
        metadata: { labels: { a: 'b' } },
      });
      await api.get(`${PATH}/none`);
      const [patch, get] = server.requests.all;
      const { method, path, query, verb, resource, namespace, name, user, body, contentType, status, responseBytes } =
        patch!;
      assert.deepEqual(
        { method, path, query, verb, resource, namespace, name, user, body, contentType, status, responseBytes },
        {
          method: 'PATCH',
          path: `${PATH}/kube-root-ca.crt`,
          query: 'fieldManager=me',
          verb: 'patch',
          resource: 'configmaps',
          namespace: 'default',
          name: 'kube-root-ca.crt',
          user: 'kubernetes-admin',
          body: { metadata: { labels: { a: 'b' } } },
          contentType: 'application/merge-patch+json',
          status: 200,
          responseBytes: Buffer.byteLength(answer.text),
        },
      );
      assert.equal(get?.status, 404);
      const wait = server.requests.waitFor({ resource: 'secrets' });
      await api.get('/api/v1/secrets');
      assert.equal((await wait).verb, 'list');
    }));

  it('supports HTTP/1.1, and sends the headers of a watch before any event', () =>
    withServer(async ({ server }) => {
      const credential = server.admin();
      assert.equal(credential.kind, 'certificate');
      const options = { ca: server.certificateAuthority, cert: credential.certificate, key: credential.key };
      const path = `/api/v1/secrets?watch=1&resourceVersion=${server.registry.store.revision}`;
      const asked = request(`${server.url}${path}`, options).end();
      const answer = await new Promise<number>((resolve, reject) => {
        asked.on('response', ({ statusCode = 0, httpVersion }) => resolve(httpVersion === '1.1' ? statusCode : 0));
        asked.on('error', reject);
      });
      assert.equal(answer, 200);
      asked.destroy();
    }));

  it('disconnects a client that does not read', () =>
    withServer(async ({ server }) => {
      const client = new RawClient(server, server.admin());
      const watch = await client.watch(`${PATH}?watch=1`);
      watch.pause();
      const [record] = server.requests.of({ verb: 'watch' });
      const big = { ...configMap('big'), data: { key: 'x'.repeat(1_000_000) } };
      for (let count = 0; count < 60 && !record!.isOver; count++) {
        server.seed({ ...big, metadata: { name: `big-${count}` } });
        await after(1);
      }
      await server.requests.waitFor({ verb: 'watch' });
      assert.equal(record!.isOver, true);
      client.close();
    }));
});
