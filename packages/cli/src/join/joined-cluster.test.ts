import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { makeCertificate } from '../../../kube-client/src/test-server.fixture.ts';
import { isJoined } from './joined-cluster.ts';

const CA = makeCertificate('ca').certificate;
const OTHER_CA = makeCertificate('other').certificate;
const SERVER = 'https://192.0.2.1:6443';
const CERTIFICATE = makeCertificate('system:node:a').certificate;
const END_MS = new X509Certificate(CERTIFICATE).validToDate.getTime();

test('a node has joined a cluster if the URL, CA and node name match and its certificate is valid', () => {
  const joined = { server: SERVER, tls: { ca: CA, certificate: CERTIFICATE } };
  const wanted = { server: SERVER, authorities: `${OTHER_CA}${CA}`, nodeName: 'a' };
  assert.equal(isJoined(joined, wanted, END_MS - 1000), true);
  assert.equal(isJoined(joined, wanted, END_MS), false);
  assert.equal(isJoined({ server: SERVER, tls: { ca: CA } }, wanted, END_MS), true);
  const check = (given: Partial<typeof wanted>, message: RegExp) =>
    assert.throws(() => isJoined(joined, { ...wanted, ...given }, 0), { code: 'failed_precondition', message });
  check(
    { server: 'https://192.0.2.2:6443' },
    /^this node belongs to https:\/\/192\.0\.2\.1:6443; leave it with podwright leave/,
  );
  check({ authorities: OTHER_CA }, /whose CA is sha256:[0-9a-f]{64}, not sha256:.*podwright leave/);
  check({ nodeName: 'b' }, /^this node has the name a in the cluster, but b now; set node_name = "a", or remove it/);
});
