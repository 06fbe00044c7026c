import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { type JsonObject, objectAt } from '@podwright/kube-kinds';
import { keepJoinTokens } from './join-tokens.ts';
import { TestCluster } from './test-cluster.fixture.ts';

const INFO = 'kube-public/cluster-info';

function start(test: TestCluster, clusterInfo: string | undefined): void {
  test.start((parts) => keepJoinTokens({ ...parts, clusterInfo, now: () => test.nowMs }));
}

const encoded = (fields: Record<string, string>) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, Buffer.from(value).toString('base64')]));

/** Creates the Secret of a bootstrap token that `cluster-info` is signed with. */
function createToken(test: TestCluster, id: string, fields: Record<string, string> = {}) {
  const data = encoded({
    'token-id': id,
    'token-secret': `${id}${id}abcd`,
    'usage-bootstrap-signing': 'true',
    ...fields,
  });
  const type = 'bootstrap.kubernetes.io/token';
  return test.create('secrets', `kube-system/bootstrap-token-${id}`, { type, data });
}

const dataOf = (test: TestCluster): JsonObject => objectAt(test.find('configmaps', INFO), 'data') ?? {};
const signaturesOf = (test: TestCluster) =>
  Object.keys(dataOf(test))
    .filter((name) => name.startsWith('jws-'))
    .sort();

test('cluster-info is signed with the tokens that allow it', async () => {
  await using test = new TestCluster();
  start(test, 'kubeconfig 1');
  await createToken(test, 'abcdef');
  await createToken(test, 'nosign', { 'usage-bootstrap-signing': 'false' });
  await test.until(() => signaturesOf(test).length === 1);
  const head = Buffer.from('{"alg":"HS256","kid":"abcdef"}').toString('base64url');
  const signed = `${head}.${Buffer.from('kubeconfig 1').toString('base64url')}`;
  const signature = createHmac('sha256', 'abcdefabcdefabcd').update(signed).digest('base64url');
  assert.deepEqual(dataOf(test), { kubeconfig: 'kubeconfig 1', 'jws-kubeconfig-abcdef': `${head}..${signature}` });
  await test.change('configmaps', INFO, (one) => ({ ...one, data: { other: 'x', kubeconfig: 'attack' } }));
  await test.until(() => signaturesOf(test).length === 1);
  assert.deepEqual(Object.keys(dataOf(test)).sort(), ['jws-kubeconfig-abcdef', 'kubeconfig', 'other']);
  assert.equal(dataOf(test).kubeconfig, 'kubeconfig 1');
  await test.delete('secrets', 'kube-system/bootstrap-token-abcdef');
  await test.until(() => signaturesOf(test).length === 0);
});

test('expired tokens are deleted, and not used for signing', async () => {
  await using test = new TestCluster();
  await createToken(test, 'expire', { expiration: '2025-12-31T23:59:59Z' });
  await createToken(test, 'broken', { expiration: 'soon' });
  await createToken(test, 'lasts1', { expiration: '2026-01-01T00:00:01Z' });
  await test.create('secrets', 'kube-system/bootstrap-token-other', { data: encoded({ expiration: 'soon' }) });
  await test.create('secrets', 'x/bootstrap-token-expire', { data: encoded({ expiration: 'soon' }) });
  start(test, 'kubeconfig');
  await test.until(() => signaturesOf(test).length > 0);
  assert.deepEqual(signaturesOf(test), ['jws-kubeconfig-lasts1']);
  const remaining = test.store.list('secrets').objects.map(({ key }) => key);
  const own = ['kube-system/bootstrap-token-lasts1', 'kube-system/bootstrap-token-other', 'x/bootstrap-token-expire'];
  assert.deepEqual(remaining, own);
});

test('without an address, only an administrator’s cluster-info is signed', async () => {
  await using test = new TestCluster();
  start(test, undefined);
  await createToken(test, 'abcdef');
  await test.atRest();
  assert.equal(test.find('configmaps', INFO), undefined);
  await test.create('configmaps', INFO, { data: { kubeconfig: 'by an administrator' } });
  await test.until(() => signaturesOf(test).length === 1);
  assert.equal(dataOf(test).kubeconfig, 'by an administrator');
});
