import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '@podwright/kube-kinds';
import { RefusedCredential } from './authenticator.ts';
import { signToken } from './json-web-token.ts';
import { LegacyTokens } from './legacy-tokens.ts';
import { ISSUER, newKey, object, TestCluster } from './test-cluster.fixture.ts';

const ACCOUNT = object('ServiceAccount', 'shop/app');
const secret = (token: string, metadata: object = {}): ApiObject => {
  const plain = object('Secret', 'shop/token', { data: { token: Buffer.from(token).toString('base64') } });
  return { ...plain, metadata: { ...plain.metadata, ...metadata } };
};

/** Returns a cluster where the Secret `token` contains a token of the service account `app`. */
function withToken() {
  const cluster = new TestCluster();
  const tokens = new LegacyTokens({ store: cluster.store, keys: cluster.keys, audiences: [ISSUER] });
  const token = tokens.issue(ACCOUNT, 'token');
  cluster.put(secret(token));
  const refused = (given: string, message: string | RegExp, audiences = [ISSUER]) =>
    assert.throws(
      () => tokens.authenticate(given, audiences),
      (error: Error) => {
        assert.ok(error instanceof RefusedCredential && !error.message.includes(given));
        assert.match(error.message, typeof message === 'string' ? new RegExp(`^${message}$`) : message);
        return true;
      },
    );
  return { cluster, tokens, token, refused };
}

test('a token in a Secret authenticates as its service account', () => {
  const { cluster, tokens, token } = withToken();
  assert.deepEqual(tokens.authenticate(token, ['other', ISSUER]), {
    user: {
      username: 'system:serviceaccount:shop:app',
      uid: 'uid-app',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:shop'],
    },
    audiences: [ISSUER],
  });
  assert.equal(tokens.authenticate(cluster.token(), [ISSUER]), undefined, 'a token of another type');
  assert.equal(cluster.tokens.authenticate(token, [ISSUER]), undefined);
  assert.equal(tokens.authenticate('x', [ISSUER]), undefined);
});

test('a token is valid as long as its Secret contains it and its account exists', () => {
  const { cluster, token, refused } = withToken();
  refused(token, 'the token is invalid for the target audiences', ['other']);
  cluster.put(secret(token, { labels: { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' } }));
  refused(token, 'the token in secret shop/token has been marked invalid');
  cluster.put(secret('another'));
  refused(token, "token does not match server's copy");
  cluster.put(secret(token, { deletionTimestamp: '2026-01-01T00:00:00Z' }));
  refused(token, 'token has been invalidated');
  cluster.remove(secret(token));
  refused(token, 'token has been invalidated');
  cluster.put(secret(token));
  cluster.put({ ...ACCOUNT, metadata: { ...ACCOUNT.metadata, uid: 'new' } });
  refused(token, /^service account UID \(new\) does not match claim/);
  cluster.remove(ACCOUNT);
  refused(token, 'service account shop/app has been deleted');
});

test('a token in a Secret is refused unless the server signed it, with all claims', () => {
  const { cluster, refused } = withToken();
  const issuer = { iss: 'kubernetes/serviceaccount' };
  const sign = (claims: object, key = cluster.keys.current) => {
    const token = signToken({ ...issuer, ...claims }, key);
    cluster.put(secret(token));
    return token;
  };
  const claim = (name: string, value: string) => ({ [`kubernetes.io/serviceaccount/${name}`]: value });
  const names = { ...claim('namespace', 'shop'), ...claim('secret.name', 'token') };
  const claims = { ...names, ...claim('service-account.name', 'app'), ...claim('service-account.uid', 'uid-app') };
  const sub = 'system:serviceaccount:shop:app';
  refused(sign({ ...claims, sub }, newKey()), 'invalid signature, no keys found');
  refused(sign({ ...claims, sub: 'system:serviceaccount:shop:other' }), 'sub claim is invalid');
  refused(sign(claims), 'sub claim is missing');
  refused(sign({ ...names, sub }), /service-account.name claim is missing$/);
});
