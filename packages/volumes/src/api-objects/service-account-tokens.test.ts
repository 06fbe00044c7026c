import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Logger } from '@podwright/base';
import { FakeKubeClient, refusal } from '@podwright/kube-client/testing';
import { NEVER, podOf, until } from './fake-needs.fixture.ts';
import { ServiceAccountTokens } from './service-account-tokens.ts';

const HOUR_MS = 3_600_000;
const SPEC = { expirationSeconds: 3607 };

/** An API server that signs `token-1`, `token-2` …, and a fake clock. */
function setUp() {
  const client = new FakeKubeClient();
  const clock = { monotonicMs: 0, wallMs: Date.parse('2026-11-23T00:00:00Z') };
  const logged: string[] = [];
  const refreshed: string[] = [];
  let count = 0;
  const sign = ({ body }: { body?: unknown }) => ({
    ...(body as object),
    status: { token: `token-${++count}`, expirationTimestamp: '2026-11-23T01:00:07Z' },
  });
  client.script({ verb: 'create', subresource: 'token' }, ...Array(20).fill(sign));
  const logger = { warn: (...parts: unknown[]) => void logged.push(JSON.stringify(parts)) } as unknown as Logger;
  const tokens = new ServiceAccountTokens({
    client,
    logger,
    onRefresh: (uid) => void refreshed.push(uid),
    now: () => ({ ...clock }),
  });
  const pass = (ms: number) => {
    clock.monotonicMs += ms;
    clock.wallMs += ms;
  };
  return { client, tokens, logged, refreshed, clock, pass, count: () => client.callsOf({ verb: 'create' }).length };
}

const pod = podOf('web', { serviceAccountName: 'robot' });

test('a token is requested with the same fields as upstream, once for concurrent callers', async () => {
  const { client, tokens, count } = setUp();
  const both = await Promise.all([tokens.token(pod, SPEC, NEVER), tokens.token(pod, SPEC, NEVER)]);
  assert.deepEqual([...both, await tokens.token(pod, SPEC, NEVER)], ['token-1', 'token-1', 'token-1']);
  assert.equal(count(), 1);
  const [call] = client.callsOf({ verb: 'create' });
  assert.deepEqual(
    [call!.plural, call!.subresource, call!.key],
    ['serviceaccounts', 'token', { namespace: 'shop', name: 'robot' }],
  );
  assert.deepEqual((call!.body as { spec: unknown }).spec, {
    audiences: null,
    expirationSeconds: 3607,
    boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'web', uid: 'uid-web' },
  });
});

test('each audience, lifetime and pod has its own token', async () => {
  const { client, tokens, count } = setUp();
  const specs = [SPEC, { ...SPEC, audience: 'vault' }, { expirationSeconds: 600 }];
  for (const spec of [...specs, ...specs]) await tokens.token(pod, spec, NEVER);
  await tokens.token(podOf('other', {}), SPEC, NEVER);
  assert.equal(count(), 4);
  assert.deepEqual((client.callsOf({ verb: 'create' })[1]!.body as { spec: { audiences: unknown } }).spec.audiences, [
    'vault',
  ]);
  assert.equal(client.callsOf({ verb: 'create' })[3]!.key?.name, 'default');
});

test('a token is replaced in the background after 80 % of its lifetime, and its pod is synced', async () => {
  const { tokens, refreshed, pass, count } = setUp();
  await tokens.token(pod, SPEC, NEVER);
  pass(0.79 * HOUR_MS - 10_000);
  assert.equal(await tokens.token(pod, SPEC, NEVER), 'token-1');
  assert.equal(count(), 1);
  pass(0.02 * HOUR_MS + 10_000);
  assert.equal(await tokens.token(pod, SPEC, NEVER), 'token-1', 'the token is still valid');
  await until(() => refreshed.length === 1);
  assert.deepEqual(refreshed, ['uid-web']);
  assert.equal(await tokens.token(pod, SPEC, NEVER), 'token-2');
  assert.equal(count(), 2);
});

test('a token is replaced if the wall clock is set back before its issue time: the API server would reject it until then', async () => {
  const { tokens, refreshed, clock, count } = setUp();
  await tokens.token(pod, SPEC, NEVER);
  clock.wallMs -= 30_000;
  await tokens.token(pod, SPEC, NEVER);
  assert.equal(count(), 1, 'within the tolerance of the API server');
  clock.wallMs -= HOUR_MS;
  await tokens.token(pod, SPEC, NEVER);
  await until(() => refreshed.length === 1);
  assert.equal(await tokens.token(pod, SPEC, NEVER), 'token-2');
  assert.equal(count(), 2);
});

test('a token that is valid for a year is replaced after a day', async () => {
  const { tokens, refreshed, pass } = setUp();
  const year = { expirationSeconds: 365 * 24 * 3600 };
  await tokens.token(pod, year, NEVER);
  pass(24 * HOUR_MS);
  await tokens.token(pod, year, NEVER);
  await until(() => refreshed.length === 1);
});

test('a token valid for seconds is not replaced in the first half of its lifetime, regardless of jitter', async (t) => {
  t.mock.method(Math, 'random', () => 0.99);
  const { tokens, pass, count, refreshed } = setUp();
  const seconds = { expirationSeconds: 8 };
  for (let times = 0; times < 3; times++) await tokens.token(pod, seconds, NEVER);
  pass(3900);
  await tokens.token(pod, seconds, NEVER);
  assert.equal(count(), 1);
  pass(200);
  await tokens.token(pod, seconds, NEVER);
  await until(() => refreshed.length === 1);
});

test('while the API server is unavailable a token is used until it expires, with retries after growing pauses', async () => {
  const { client, tokens, pass, count, logged } = setUp();
  await tokens.token(pod, SPEC, NEVER);
  client.script({ verb: 'create', subresource: 'token' });
  const away = new Error('connect ECONNREFUSED');
  const original = client.create.bind(client);
  let tries = 0;
  client.create = (async () => {
    tries++;
    throw away;
  }) as typeof client.create;
  pass(0.9 * HOUR_MS);
  for (let sync = 0; sync < 5; sync++) {
    assert.equal(await tokens.token(pod, SPEC, NEVER), 'token-1');
    await until(() => tries === 1);
  }
  assert.equal(tries, 1, 'no retry during the pause');
  await until(() => logged.length === 1);
  pass(0.2 * HOUR_MS);
  await assert.rejects(
    tokens.token(pod, SPEC, NEVER),
    /token for service account robot of pod shop\/web expired and refresh failed: failed to fetch token: connect ECONNREFUSED/,
  );
  client.create = original;
  assert.equal(await tokens.token(pod, SPEC, NEVER), 'token-2');
  assert.equal(count(), 2);
  assert.ok(!logged.join().includes('token-'), 'no token in the log');
});

test('expired tokens are not used after the host slept, and a wrong clock does not cause a new token on every sync', async () => {
  const { tokens, clock, count } = setUp();
  clock.wallMs += 5 * HOUR_MS;
  await tokens.token(pod, SPEC, NEVER);
  await tokens.token(pod, SPEC, NEVER);
  assert.equal(count(), 1, 'a clock that is always wrong');
  clock.wallMs += 2 * HOUR_MS;
  assert.equal(await tokens.token(pod, SPEC, NEVER), 'token-2', 'the host slept for two hours');
});

test('tokens of a removed pod are dropped', async () => {
  const { tokens, count } = setUp();
  await tokens.token(pod, SPEC, NEVER);
  await tokens.token(podOf('other', {}), SPEC, NEVER);
  tokens.forgetPod('uid-web');
  assert.equal(await tokens.token(pod, SPEC, NEVER), 'token-3');
  await tokens.token(podOf('other', {}), SPEC, NEVER);
  assert.equal(count(), 3);
});

test('errors for rejections and malformed responses do not contain the token', async () => {
  const check = async (answer: object, expected: RegExp) => {
    const client = new FakeKubeClient();
    client.script({ verb: 'create' }, answer);
    const logger = { warn: () => undefined } as unknown as Logger;
    const tokens = new ServiceAccountTokens({ client, logger, onRefresh: () => undefined });
    await assert.rejects(tokens.token(pod, SPEC, NEVER), (error: Error) => {
      assert.match(error.message, expected);
      assert.ok(!error.message.includes('secret-token'));
      return true;
    });
  };
  await check(
    refusal(404, 'NotFound', 'serviceaccounts "robot" not found'),
    /^failed to fetch token: serviceaccounts "robot" not found$/,
  );
  await check(refusal(403, 'Forbidden', 'no relationship'), /^failed to fetch token: no relationship$/);
  await check({ metadata: {} }, /malformed: it has no token/);
  await check(
    { metadata: {}, spec: { expirationSeconds: 60 }, status: { token: 'secret-token'.repeat(10_000) } },
    /it has no token of at most 64 KiB/,
  );
  await check({ metadata: {}, status: { token: 'secret-token' } }, /does not say how long/);
  await check(
    { metadata: {}, spec: { expirationSeconds: -1 }, status: { token: 'secret-token' } },
    /does not say how long/,
  );
});
