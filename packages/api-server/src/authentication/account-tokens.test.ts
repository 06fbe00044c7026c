import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountTokens } from './account-tokens.ts';
import { RefusedCredential } from './authenticator.ts';
import { signToken } from './json-web-token.ts';
import { ISSUER, newKey, object, TestCluster } from './test-cluster.fixture.ts';

const POD = { pod: { name: 'web', uid: 'uid-web' } };

/** Checks that a token is rejected with this message, and that the message does not contain the token. */
function refused(tokens: AccountTokens, token: string, message: string, audiences = [ISSUER]): void {
  assert.throws(
    () => tokens.authenticate(token, audiences),
    (error: Error) => {
      assert.ok(error instanceof RefusedCredential);
      assert.equal(error.message, message);
      return true;
    },
  );
}

test('a pod’s token has its account, groups, pod and node', () => {
  const cluster = new TestCluster();
  const token = cluster.token({ ...POD, node: { name: 'n1', uid: 'uid-n1' } });
  const { user, audiences } = cluster.tokens.authenticate(token, ['other', ISSUER])!;
  assert.deepEqual(audiences, [ISSUER]);
  const [credential] = user.extra!['authentication.kubernetes.io/credential-id']!;
  assert.match(credential!, /^JTI=[\da-f-]{36}$/);
  assert.deepEqual(user, {
    username: 'system:serviceaccount:shop:app',
    uid: 'uid-app',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:shop'],
    extra: {
      'authentication.kubernetes.io/credential-id': [credential],
      'authentication.kubernetes.io/node-name': ['n1'],
      'authentication.kubernetes.io/node-uid': ['uid-n1'],
      'authentication.kubernetes.io/pod-name': ['web'],
      'authentication.kubernetes.io/pod-uid': ['uid-web'],
    },
  });
});

test('the times in a token are checked on each use, with a minute of leeway', () => {
  const cluster = new TestCluster();
  const token = cluster.token();
  const start = cluster.nowMs;
  const at = (seconds: number) => {
    cluster.nowMs = start + seconds * 1000;
  };
  for (const seconds of [0, -60, 660]) {
    at(seconds);
    assert.ok(cluster.tokens.authenticate(token, [ISSUER]));
  }
  at(661);
  refused(cluster.tokens, token, 'service account token has expired');
  at(-61);
  refused(cluster.tokens, token, 'service account token is not valid yet');
});

test('a token for other audiences is refused', () => {
  const { tokens } = new TestCluster();
  const binding = { namespace: 'shop', serviceaccount: { name: 'app', uid: 'uid-app' } };
  const token = tokens.issue({ audiences: ['vault', 'x'], expirationSeconds: 600, binding });
  refused(tokens, token, `token audiences ["vault" "x"] is invalid for the target audiences ["${ISSUER}"]`);
  refused(tokens, token, 'token audiences ["vault" "x"] is invalid for the target audiences []', []);
  assert.deepEqual(tokens.authenticate(token, ['vault'])!.audiences, ['vault']);
});

test('a token becomes invalid with its service account', () => {
  const cluster = new TestCluster();
  const token = cluster.token();
  assert.ok(cluster.tokens.authenticate(token, [ISSUER]));
  const account = object('ServiceAccount', 'shop/app');
  const deletion = { deletionTimestamp: '2025-12-31T23:00:00Z' };
  cluster.put({ ...account, metadata: { ...account.metadata, ...deletion } });
  refused(cluster.tokens, token, 'service account shop/app has been deleted');
  cluster.put({ ...account, metadata: { ...account.metadata, uid: 'other' } });
  refused(cluster.tokens, token, 'service account UID (other) does not match claim (uid-app)');
  cluster.remove(account);
  refused(cluster.tokens, token, 'serviceaccounts "app" not found');
});

test('a token becomes invalid with the object it is bound to', () => {
  const check = (kind: string, path: string, bound: Record<string, unknown>) => {
    const cluster = new TestCluster();
    const token = cluster.token(bound);
    const own = object(kind, path);
    const [name, label] = [own.metadata.name!, kind.toLowerCase()];
    assert.ok(cluster.tokens.authenticate(token, [ISSUER]));
    const deleting = (deletionTimestamp: string) =>
      cluster.put({ ...own, metadata: { ...own.metadata, deletionTimestamp } });
    deleting('2025-12-31T23:59:00Z');
    assert.ok(cluster.tokens.authenticate(token, [ISSUER]), 'within the leeway');
    deleting('2025-12-31T23:58:59Z');
    refused(cluster.tokens, token, 'service account token has been invalidated');
    cluster.put({ ...own, metadata: { ...own.metadata, uid: 'other' } });
    const mismatch = `${label} UID (other) does not match service account ${label} ref claim (uid-${name})`;
    refused(cluster.tokens, token, mismatch);
    cluster.remove(own);
    refused(cluster.tokens, token, 'service account token has been invalidated');
  };
  check('Pod', 'shop/web', POD);
  check('Secret', 'shop/hidden', { secret: { name: 'hidden', uid: 'uid-hidden' } });
  check('Node', 'n1', { node: { name: 'n1', uid: 'uid-n1' } });
});

test('the node of a pod is informational: the token outlives it', () => {
  const cluster = new TestCluster();
  const token = cluster.token({ ...POD, node: { name: 'n1', uid: 'uid-n1' } });
  cluster.remove(object('Node', 'n1'));
  assert.ok(cluster.tokens.authenticate(token, [ISSUER]));
});

test('tokens signed with older keys remain valid; those of unknown keys are rejected', () => {
  const cluster = new TestCluster();
  const old = cluster.token();
  const added = newKey('rsa');
  cluster.keys.all.push(added);
  cluster.keys.current = added;
  assert.ok(cluster.tokens.authenticate(old, [ISSUER]));
  assert.ok(cluster.tokens.authenticate(cluster.token(), [ISSUER]));
  const foreign = new TestCluster();
  refused(cluster.tokens, foreign.token(), 'invalid signature, no keys found');
});

test('a key ID cannot select an algorithm, a file or a statement', () => {
  const cluster = new TestCluster();
  const foreign = newKey();
  const claims = { iss: ISSUER, aud: [ISSUER], sub: 'x', exp: 1e12, 'kubernetes.io': {} };
  const check = (id: string, message: string) =>
    refused(cluster.tokens, signToken(claims, { ...foreign, id }), message);
  for (const id of ['../../dev/null', "' OR 1=1", '__proto__', 'x'.repeat(1000)])
    check(id, 'invalid signature, no keys found');
  check(cluster.keys.current.id, 'invalid signature');
  check('', 'invalid signature');
});

test('tokens of other issuers and other strings are not recognized', () => {
  const cluster = new TestCluster();
  const claims = { aud: [ISSUER], exp: 1e12 };
  const check = (text: string) => assert.equal(cluster.tokens.authenticate(text, [ISSUER]), undefined);
  check('');
  check('abcdef.0123456789abcdef');
  for (const iss of [undefined, 'kubernetes/serviceaccount', `${ISSUER}/`, [ISSUER]])
    check(signToken({ ...claims, iss }, cluster.keys.current));
});

test('signed claims that are not those of a token are refused', () => {
  const cluster = new TestCluster();
  const binding = { namespace: 'shop', serviceaccount: { name: 'app', uid: 'uid-app' } };
  const valid = { iss: ISSUER, sub: 'x', aud: ISSUER, exp: 1e12, 'kubernetes.io': binding };
  const check = (changes: Record<string, unknown>) => {
    const token = signToken({ ...valid, ...changes }, cluster.keys.current);
    refused(cluster.tokens, token, 'service account token claims could not be validated');
  };
  assert.ok(cluster.tokens.authenticate(signToken(valid, cluster.keys.current), [ISSUER]));
  check({ exp: undefined });
  check({ exp: '1e12' });
  check({ aud: undefined });
  check({ aud: [{}] });
  check({ nbf: [] });
  check({ 'kubernetes.io': undefined });
  check({ 'kubernetes.io': [] });
  check({ 'kubernetes.io': { namespace: 'shop' } });
  check({ 'kubernetes.io': { ...binding, pod: 'web' } });
  check({ 'kubernetes.io': { ...binding, pod: {} } });
});
