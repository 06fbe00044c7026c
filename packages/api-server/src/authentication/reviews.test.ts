import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BootstrapTokens } from './bootstrap-tokens.ts';
import { openIdDocument } from './openid-documents.ts';
import { RequestAuthenticator } from './request-authenticator.ts';
import { reviewSelf, reviewToken } from './reviews.ts';
import { ISSUER, newKey, TestCluster } from './test-cluster.fixture.ts';

function review(cluster: TestCluster, spec: unknown) {
  const { store, tokens, now } = cluster;
  const types = [tokens, new BootstrapTokens({ store, audiences: [ISSUER], now })];
  const authenticator = new RequestAuthenticator({ tokens: types, audiences: [ISSUER], now });
  const object = { kind: 'TokenReview', metadata: {}, spec };
  return reviewToken(object, (token, audiences) => authenticator.userOfToken(token, audiences), [ISSUER]);
}

test('a TokenReview reports a token’s user and audiences', () => {
  const cluster = new TestCluster();
  const token = cluster.token();
  const reviewed = review(cluster, { token });
  assert.deepEqual(reviewed.spec, { token });
  const { authenticated, user, audiences } = reviewed.status as {
    authenticated: boolean;
    user: Record<string, unknown>;
    audiences: unknown;
  };
  assert.deepEqual([authenticated, audiences], [true, [ISSUER]]);
  assert.deepEqual([user.username, user.uid], ['system:serviceaccount:shop:app', 'uid-app']);
  assert.deepEqual((review(cluster, { token, audiences: [ISSUER, 'x'] }).status as { audiences: unknown }).audiences, [
    ISSUER,
  ]);
});

test('a TokenReview of an invalid token gives the reason', () => {
  const cluster = new TestCluster();
  const check = (spec: unknown, error: string) => assert.deepEqual(review(cluster, spec).status, { user: {}, error });
  check({ token: 'x' }, 'invalid bearer token');
  const token = cluster.token();
  check({ token, audiences: ['x'] }, `token audiences ["${ISSUER}"] is invalid for the target audiences ["x"]`);
  cluster.nowMs += 3_600_000;
  check({ token }, 'service account token has expired');
  assert.throws(() => review(cluster, {}), /token is required for TokenReview/);
});

test('a SelfSubjectReview reports the user, omitting empty fields', () => {
  const object = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1', metadata: { name: 'x' } };
  const nowMs = Date.parse('2026-01-01T00:00:00Z');
  const ofUser = (user: Parameters<typeof reviewSelf>[1]) => reviewSelf(object, user, nowMs);
  assert.deepEqual(ofUser({ username: 'alice', groups: ['dev'], uid: '', extra: { k: ['v'] } }), {
    kind: 'SelfSubjectReview',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
    status: { userInfo: { username: 'alice', groups: ['dev'], extra: { k: ['v'] } } },
  });
  assert.deepEqual(ofUser({ username: 'bob', groups: [], uid: '7', extra: {} }).status, {
    userInfo: { username: 'bob', uid: '7' },
  });
});

test('the discovery documents list only public keys', () => {
  const keys = [newKey('rsa'), newKey(), newKey('P-384')];
  const documentAt = (path: string, issuer = ISSUER) => openIdDocument(path, { issuer, host: '10.0.0.1:6443', keys });
  assert.deepEqual(JSON.parse(documentAt('/.well-known/openid-configuration')!.body), {
    issuer: ISSUER,
    jwks_uri: 'https://10.0.0.1:6443/openid/v1/jwks',
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256', 'ES384', 'RS256'],
  });
  const { body, headers } = documentAt('/openid/v1/jwks')!;
  assert.deepEqual(headers, { 'content-type': 'application/jwk-set+json', 'cache-control': 'public, max-age=3600' });
  const listed = JSON.parse(body).keys as Record<string, string>[];
  assert.deepEqual(
    listed.map((one) => Object.keys(one).sort()),
    [
      ['alg', 'e', 'kid', 'kty', 'n', 'use'],
      ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
      ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
    ],
  );
  assert.deepEqual(
    listed.map(({ kid }) => kid),
    keys.map(({ id }) => id),
  );
  assert.equal(documentAt('/openid/v1/keys'), undefined);
  for (const issuer of ['http://x', 'https://x?y', 'https://x#y'])
    assert.throws(() => documentAt('/.well-known/openid-configuration', issuer), /must be an HTTPS URL/);
});
