import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Logger, PodwrightError } from '@podwright/base';
import type { KubeObject, Resource } from '@podwright/kube-api';
import { ApiStatusError, type KubeClient } from '@podwright/kube-client';
import { reviewedAccess } from './access-reviews.ts';
import { ReviewCache } from './review-cache.ts';
import { serveApi } from './served-api.fixture.ts';
import { reviewedUser } from './token-reviews.ts';

const ALICE = { username: 'alice', uid: '7', groups: ['team'], extra: { 'example.com/a': ['b'] } };

type Asked = { kind: string; spec: Record<string, unknown> };

/** Returns a fake client that answers reviews with the status that `answer` returns, or fails if `answer` returns an error. */
function reviewing(answer: (asked: Asked) => unknown): { client: KubeClient; asked: Asked[] } {
  const asked: Asked[] = [];
  const create = async (resource: Resource, object: KubeObject & { spec?: object }) => {
    const one = { kind: resource.kind, spec: object.spec as Record<string, unknown> };
    asked.push(one);
    const status = answer(one);
    if (status instanceof Error) throw status;
    return { ...object, status };
  };
  return { client: { create } as unknown as KubeClient, asked };
}

const keeping = { tokens: { keptMs: 120_000 }, access: { allowedMs: 300_000, deniedMs: 30_000 } };

async function served(t: TestContext, answer: (asked: Asked) => unknown, logger?: Logger) {
  const { client, asked } = reviewing(answer);
  const api = await serveApi(t, { reviewer: client, logger, authentication: { anonymous: false, reviews: keeping } });
  const ask = async (path: string, token?: string, method?: string) => {
    const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` };
    const { status, body } = await api.ask(path, { method, headers });
    return [status, body] as const;
  };
  return { ask, asked };
}

/**
 * Fakes TokenReview and SubjectAccessReview responses: alice's token authenticates her, and she may access the subresources for which `may`
 * returns true.
 */
const knowing =
  (may: (subresource: unknown) => unknown = () => true) =>
  ({ kind, spec }: Asked) => {
    if (kind === 'TokenReview') return { authenticated: spec.token === 'good', user: ALICE };
    return { allowed: may((spec.resourceAttributes as Record<string, unknown>).subresource) };
  };

test('a token and its user’s access are reviewed once, then cached', async (t) => {
  const { ask, asked } = await served(t, knowing());
  for (let time = 0; time < 3; time++) assert.equal((await ask('/containerLogs/a/b/c', 'good'))[0], 404);
  assert.deepEqual(asked, [
    { kind: 'TokenReview', spec: { token: 'good' } },
    {
      kind: 'SubjectAccessReview',
      spec: {
        resourceAttributes: { verb: 'get', subresource: 'proxy', name: 'node', version: 'v1', resource: 'nodes' },
        user: 'alice',
        groups: ['team', 'system:authenticated'],
        extra: { 'example.com/a': ['b'] },
        uid: '7',
      },
    },
  ]);
});

test('requests without a token are refused, and an unknown token is reviewed once', async (t) => {
  const { ask, asked } = await served(t, knowing());
  assert.deepEqual(await ask('/pods'), [401, 'Unauthorized']);
  for (let time = 0; time < 3; time++) assert.deepEqual(await ask('/pods', 'bad'), [401, 'Unauthorized']);
  assert.equal(asked.length, 1);
});

test('a fine-grained subresource suffices, proxy covers the other paths, and a denial has upstream’s wording', async (t) => {
  const { ask } = await served(
    t,
    knowing((subresource) => subresource === 'pods' || subresource === 'metrics'),
  );
  const [pods, metrics, stats, exec] = await Promise.all([
    ask('/pods', 'good'),
    ask('/metrics', 'good'),
    ask('/stats/summary', 'good'),
    ask('/exec/a/b/c', 'good', 'POST'),
  ]);
  assert.deepEqual([pods[0], metrics[0]], [200, 200]);
  assert.deepEqual(stats, [403, 'Forbidden (user=alice, verb=get, resource=nodes, subresource(s)=[stats])\n']);
  assert.deepEqual(exec, [403, 'Forbidden (user=alice, verb=create, resource=nodes, subresource(s)=[proxy])\n']);
  assert.deepEqual(await ask('/configz', 'good'), [
    403,
    'Forbidden (user=alice, verb=get, resource=nodes, subresource(s)=[configz proxy])\n',
  ]);
});

test('a request target with a fragment is not a path, and is not allowed by access to another path', async (t) => {
  const { ask } = await served(
    t,
    knowing((subresource) => subresource === 'proxy'),
  );
  for (const path of ['/metrics#x', '/metrics#', '/stats/summary#x', '/pods#x', '/metrics/%23x'])
    assert.notEqual((await ask(path, 'good'))[0], 200, path);
  assert.equal((await ask('/metrics', 'good'))[0], 403);
  assert.equal((await ask('/pods', 'good'))[0], 200);
});

test('requests are refused while reviews fail, and the token is never logged', async (t) => {
  const lines: string[] = [];
  const write = (fields: object, message: string) => void lines.push(JSON.stringify({ ...fields, message }));
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
  const forbidden = new ApiStatusError('create', { code: 403, reason: 'Forbidden', message: 'very-secret may not' });
  const { ask } = await served(t, () => forbidden, logger);
  assert.deepEqual(await ask('/pods', 'very-secret'), [401, 'Unauthorized']);
  assert.match(lines.join('\n'), /Unable to authenticate the request/);
  assert.ok(!lines.join('\n').includes('very-secret'));
  const known = await served(t, (asked) => (asked.kind === 'TokenReview' ? knowing()(asked) : forbidden));
  assert.deepEqual(await known.ask('/stats/summary', 'good'), [
    500,
    'Authorization error (user=alice, verb=get, resource=nodes, subresource=stats)',
  ]);
});

test('a review is retried after a transient error', async (t) => {
  let failures = 2;
  const away = new PodwrightError('unavailable', 'the connection was cut');
  const { ask } = await served(t, (asked) => (failures-- > 0 ? away : knowing()(asked)));
  assert.equal((await ask('/pods', 'good'))[0], 200);
});

test('malformed reviews authenticate no user and allow no request', async (t) => {
  const yes = (user: unknown) => ({ authenticated: true, user });
  for (const status of [undefined, null, 5, {}, { authenticated: 'true', user: ALICE }])
    assert.equal(reviewedUser(status), undefined);
  const nonsense = [undefined, null, {}, { username: '' }, { username: 5 }, { username: 'a', groups: 'x' }];
  const more = [
    { username: 'a', groups: [5] },
    { username: 'a', extra: { a: 'b' } },
    { username: 'a', uid: 5 },
    { username: 'x'.repeat(70_000) },
  ];
  for (const user of [...nonsense, ...more]) assert.throws(() => reviewedUser(yes(user)), { code: 'internal' });
  assert.deepEqual(reviewedUser(yes({ username: 'a' })), { name: 'a', uid: undefined, groups: [], extra: undefined });
  for (const status of [undefined, null, {}, { allowed: 'true' }, { allowed: 1 }, { allowed: true, denied: true }])
    assert.throws(() => reviewedAccess(status), { code: 'internal' });
  assert.deepEqual(
    [reviewedAccess({ allowed: true }), reviewedAccess({ allowed: false, denied: true })],
    [true, false],
  );
  const { ask } = await served(t, () => ({ authenticated: true, user: { username: 'system:admin', groups: 7 } }));
  assert.deepEqual(await ask('/pods', 'x'), [401, 'Unauthorized']);
});

test('responses are cached for their TTL, least recently used ones are dropped first, and too many at once are refused', async () => {
  let now = 0;
  const cache = new ReviewCache<number>(2, () => now);
  let asked = 0;
  const ask = async () => ({ value: ++asked, keepMs: 10 });
  const of = (key: string) => cache.answer(key, ask);
  assert.deepEqual(await Promise.all([of('a'), of('a'), of('b')]), [1, 1, 2]);
  assert.deepEqual([await of('a'), await of('c'), await of('a'), await of('b')], [1, 3, 1, 4]);
  now = 10;
  assert.equal(await of('a'), 5);
  await assert.rejects(
    cache.answer('x', async () => {
      throw new Error('away');
    }),
    /away/,
  );
  assert.equal(await cache.answer('x', async () => ({ value: 7, keepMs: 0 })), 7);
  assert.equal(await cache.answer('x', async () => ({ value: 8, keepMs: 0 })), 8);
  const never = () => new Promise<never>(() => undefined);
  for (let one = 0; one < 100; one++) void cache.answer(`n${one}`, never);
  await assert.rejects(cache.answer('n100', never), { code: 'resource_exhausted' });
});
