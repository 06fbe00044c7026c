import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@podwright/api-machinery';
import type { ApiObject } from '@podwright/kube-kinds';
import { ISSUER, object, TestCluster } from './test-cluster.fixture.ts';
import { requestToken, type TokenRequestAdmission, type TokenRequestParts } from './token-request.ts';

type Call = {
  cluster?: TestCluster;
  spec?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
  name?: string;
  parts?: Partial<TokenRequestParts>;
  admission?: Partial<TokenRequestAdmission>;
};

const POD_REFERENCE = { kind: 'Pod', apiVersion: 'v1', name: 'web' };
const NOW_S = Date.parse('2026-01-01T00:00:00Z') / 1000;
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

async function create({ cluster = new TestCluster(), spec, metadata = {}, name = 'app', ...more }: Call) {
  const { store, tokens, now } = cluster;
  const warnings: string[] = [];
  const created = await requestToken(
    { store, tokens, now, audiences: [ISSUER, 'https://api'], ...more.parts },
    {
      namespace: 'shop',
      name,
      object: { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', metadata, ...(spec && { spec }) },
      admission: { mutate: async (one) => one, validate: async () => {}, ...more.admission },
      warn: (message) => warnings.push(message),
    },
  );
  const status = created.status as { token: string; expirationTimestamp: string };
  return { created, status, claims: claimsOf(status.token), warnings, cluster };
}

test('a request without fields gets a one-hour token for the API', async () => {
  const { created, status, claims, cluster } = await create({});
  assert.deepEqual(created.metadata, {
    name: 'app',
    namespace: 'shop',
    uid: 'uid-app',
    creationTimestamp: '2026-01-01T00:00:00Z',
  });
  assert.deepEqual(created.spec, { audiences: [ISSUER, 'https://api'], expirationSeconds: 3600 });
  assert.equal(status.expirationTimestamp, '2026-01-01T01:00:00Z');
  assert.deepEqual(claims, {
    aud: [ISSUER, 'https://api'],
    exp: NOW_S + 3600,
    iat: NOW_S,
    iss: ISSUER,
    jti: claims.jti,
    'kubernetes.io': { namespace: 'shop', serviceaccount: { name: 'app', uid: 'uid-app' } },
    nbf: NOW_S,
    sub: 'system:serviceaccount:shop:app',
  });
  assert.ok(cluster.tokens.authenticate(status.token, [ISSUER]));
});

test('a pod’s token names its node', async () => {
  const spec = { boundObjectRef: { ...POD_REFERENCE, uid: 'uid-web' }, expirationSeconds: 600 };
  const { claims, cluster } = await create({ spec });
  const pod = { name: 'web', uid: 'uid-web' };
  assert.deepEqual(claims['kubernetes.io'].pod, pod);
  assert.deepEqual(claims['kubernetes.io'].node, { name: 'n1', uid: 'uid-n1' });
  cluster.remove(object('Node', 'n1'));
  assert.deepEqual((await create({ cluster, spec })).claims['kubernetes.io'].node, { name: 'n1' });
});

test('tokens can be bound to Secrets and Nodes', async () => {
  const bound = async (boundObjectRef: unknown) => (await create({ spec: { boundObjectRef } })).claims['kubernetes.io'];
  assert.deepEqual((await bound({ kind: 'Secret', apiVersion: 'v1', name: 'hidden' })).secret.uid, 'uid-hidden');
  assert.deepEqual((await bound({ kind: 'Node', apiVersion: 'v1', name: 'n1' })).node.uid, 'uid-n1');
});

test('a token requested by a kubelet for a pod is valid for a year, and stale after an hour', async () => {
  const spec = { boundObjectRef: POD_REFERENCE, expirationSeconds: 3607 };
  const extended = await create({ spec });
  assert.equal(extended.claims.exp, NOW_S + 365 * 24 * 3600);
  assert.equal(extended.claims['kubernetes.io'].warnafter, NOW_S + 3607);
  assert.equal(extended.status.expirationTimestamp, '2026-01-01T01:00:07Z');
  const check = async (call: Call, seconds: number) => {
    const { claims } = await create(call);
    assert.equal(claims.exp, NOW_S + seconds);
    assert.equal(claims['kubernetes.io'].warnafter, undefined);
  };
  await check({ spec, parts: { extendExpiration: false } }, 3607);
  await check({ spec: { ...spec, expirationSeconds: 3608 } }, 3608);
  await check({ spec: { ...spec, boundObjectRef: undefined } }, 3607);
  await check({ spec: { ...spec, audiences: ['vault'] } }, 3607);
  await check({ spec: { ...spec, audiences: [ISSUER, 'vault'] } }, 3607);
});

test('a long lifetime is shortened with a warning', async () => {
  const { claims, warnings } = await create({
    spec: { expirationSeconds: 7200 },
    parts: { maxExpirationSeconds: 3600 },
  });
  assert.equal(claims.exp, NOW_S + 3600);
  assert.deepEqual(warnings, ['requested expiration of 7200 seconds shortened to 3600 seconds']);
});

test('admission changes the request before it is completed, and its denial is returned', async () => {
  const seen: unknown[] = [];
  const mutate = async (one: ApiObject) => ({ ...one, spec: { ...(one.spec ?? {}), expirationSeconds: 900 } });
  const validate = async (one: ApiObject) => void seen.push(one.spec, one.status);
  const { claims } = await create({ admission: { mutate, validate } });
  assert.deepEqual(seen, [{ audiences: [ISSUER, 'https://api'], expirationSeconds: 900 }, undefined]);
  assert.equal(claims.exp, NOW_S + 900);
  const refuse = () => Promise.reject(new Error('not you'));
  await assert.rejects(create({ admission: { mutate: refuse } }), /not you/);
  await assert.rejects(create({ admission: { validate: refuse } }), /not you/);
});

test('invalid requests are rejected with upstream’s messages', async () => {
  const check = async (call: Call, code: number, message: string) =>
    await assert.rejects(create(call), (error: unknown) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual([error.status.code, error.message], [code, message]);
      return true;
    });
  const invalid = (detail: string) =>
    `TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: ${detail}`;
  await check({ name: 'none' }, 404, 'serviceaccounts "none" not found');
  await check(
    { spec: { expirationSeconds: 599 } },
    422,
    invalid('Invalid value: 599: may not specify a duration less than 10 minutes'),
  );
  await check(
    { spec: { expirationSeconds: 2 ** 32 + 1 } },
    422,
    invalid('Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds'),
  );
  await check(
    { metadata: { name: 'other' } },
    422,
    'TokenRequest.authentication.k8s.io "app" is invalid: metadata.name: Invalid value: "other": must match the service account name if specified',
  );
  await check(
    { metadata: { uid: 'old' } },
    409,
    'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "app": the UID in the token request (old) does not match the UID of the service account (uid-app)',
  );
  const bound = (reference: Record<string, unknown>) => ({
    spec: { boundObjectRef: { ...POD_REFERENCE, ...reference } },
  });
  await check(bound({ name: 'none' }), 404, 'pods "none" not found');
  await check(bound({ kind: 'Service' }), 400, 'cannot bind token to object of type /v1, Kind=Service');
  await check(bound({ apiVersion: 'x/v1' }), 400, 'cannot bind token to object of type x/v1, Kind=Pod');
  await check(
    bound({ uid: 'old' }),
    409,
    'Operation cannot be fulfilled on Pod "web": the UID in the bound object reference (old) does not match the UID in record. The object might have been deleted and then recreated',
  );
  const cluster = new TestCluster();
  cluster.put(object('Pod', 'shop/web', { spec: { serviceAccountName: 'default' } }));
  await check(
    { cluster, ...bound({}) },
    400,
    'cannot bind token for serviceaccount "app" to pod running with different serviceaccount name.',
  );
});
