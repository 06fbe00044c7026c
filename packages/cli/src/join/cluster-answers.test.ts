import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiStatusError, type KubeClient } from '@podwright/kube-client';
import { parse } from 'yaml';
import { authorityHashes, parseAuthorityHash } from './authority-hash.ts';
import { clusterConfiguration, leastConfiguration, refuseTakenName } from './cluster-answers.ts';
import { readClusterInfo } from './discover-cluster.ts';

const { signal } = new AbortController();

/** A fake API client that responds to every `get` with this value or, if it is an error, rejects with it. */
function answering(answer: unknown): KubeClient {
  const get = async () => {
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { get } as unknown as KubeClient;
}

const status = (code: number) => new ApiStatusError('get', { code, reason: '', message: 'no' });

test('the name of a ready node is refused', async () => {
  const check = (answer: unknown) => refuseTakenName(answering(answer), 'a', signal);
  const node = (ready: string) => ({ metadata: {}, status: { conditions: [{ type: 'Ready', status: ready }] } });
  await assert.rejects(check(node('True')), /the cluster has a node a that is ready; delete it/);
  await check(node('Unknown'));
  await check({ metadata: {} });
  await check(status(404));
  await check(status(403));
  await assert.rejects(check(status(401)), /rejects the token: it has expired/);
  await assert.rejects(check(status(500)), { code: 'unknown' });
});

test('the cluster’s configuration is used with the local CA file', async () => {
  const of = (kubelet: unknown) => clusterConfiguration(answering({ metadata: {}, data: { kubelet } }), '/ca', signal);
  const text =
    'apiVersion: v1beta1\nauthentication:\n  x509:\n    clientCAFile: /etc/kubernetes/pki/ca.crt\nmaxPods: 7\n';
  const taken = { apiVersion: 'v1beta1', authentication: { x509: { clientCAFile: '/ca' } }, maxPods: 7 };
  assert.deepEqual(parse((await of(text))!), taken);
  assert.deepEqual(parse((await of('maxPods: 7\n'))!), {
    maxPods: 7,
    authentication: { x509: { clientCAFile: '/ca' } },
  });
  assert.equal(await of(undefined), undefined);
  assert.equal(await clusterConfiguration(answering(status(403)), '/ca', signal), undefined);
  await assert.rejects(of('a: [1\n'), /it is not valid YAML/);
  assert.equal(parse(leastConfiguration('/ca')).authentication.x509.clientCAFile, '/ca');
});

test('invalid cluster-info is refused', () => {
  const cluster = (fields: object) => JSON.stringify({ clusters: [{ cluster: fields }] });
  const data = Buffer.from('PEM').toString('base64');
  assert.deepEqual(readClusterInfo(cluster({ server: 'https://a:1', 'certificate-authority-data': data })), {
    server: 'https://a:1',
    authorities: 'PEM',
  });
  for (const wrong of [
    '',
    '5',
    '[',
    'clusters: 5',
    cluster({}),
    cluster({ server: 'x', 'certificate-authority-data': data }),
  ])
    assert.throws(() => readClusterInfo(wrong), { code: 'invalid_argument' }, wrong);
});

test('CA certificate hashes are parsed and computed', () => {
  const hash = `sha256:${'A1'.repeat(32)}`;
  assert.equal(parseAuthorityHash(hash), hash.toLowerCase());
  for (const wrong of ['', 'sha256:', 'sha512:00', `sha256:${'0'.repeat(63)}`])
    assert.throws(() => parseAuthorityHash(wrong), /must be sha256: and 64 hexadecimal digits/);
  assert.deepEqual(authorityHashes('none'), []);
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
  assert.throws(() => authorityHashes(broken), /read the cluster's authorities/);
});
