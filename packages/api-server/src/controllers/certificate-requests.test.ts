import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type ApiObject, objectsAt, textAt } from '@podwright/kube-kinds';
import type { AuthorizationAttributes } from '../authorization/authorizer.ts';
import { CertificateAuthority } from '../certificates/certificate-authority.ts';
import { requestFor } from '../certificates/certificate-requests.fixture.ts';
import { approvalOf, handleCertificateRequests, REQUESTS } from './certificate-requests.ts';
import { deleteOldRequests } from './clean-requests.ts';
import { TestCluster } from './test-cluster.fixture.ts';

const scratch = mkdtempSync(join(tmpdir(), 'pw-signers-'));
after(() => rmSync(scratch, { recursive: true }));
const NOW = Date.parse('2026-01-01T00:00:00Z');
const authority = await CertificateAuthority.open(join(scratch, 'authority'), () => NOW);

const NODE = '/O=system:nodes/CN=system:node:n1';
const CLIENT = 'kubernetes.io/kube-apiserver-client';
const KUBELET = 'kubernetes.io/kube-apiserver-client-kubelet';
const SERVING = 'kubernetes.io/kubelet-serving';

type Spec = { request: string; signerName: string; usages: string[]; expirationSeconds?: number };

const spec = (signerName: string, request: string, ...usages: string[]): Spec => ({ signerName, request, usages });

/** Returns a cluster where the user `tester` has the permissions `allowed`. */
const cluster = (allowed: readonly string[] = []): TestCluster => clusterAt(() => NOW, allowed);

function clusterAt(now: () => number, allowed: readonly string[] = []): TestCluster {
  const made = new TestCluster();
  const authorize = ({ user, verb, resource, subresource }: AuthorizationAttributes) => ({
    decision:
      user.username === 'tester' && allowed.includes(`${verb} ${resource}/${subresource}`)
        ? ('allow' as const)
        : ('no opinion' as const),
    reason: '',
  });
  made.start((parts) => handleCertificateRequests({ ...parts, authority, authorizer: { authorize }, now }));
  return made;
}

const typesOf = (object: ApiObject | undefined) =>
  objectsAt(object, 'status', 'conditions').map(({ type, reason, message }) => `${type} ${reason}: ${message}`);

const certificateOf = (object: ApiObject | undefined) =>
  new X509Certificate(Buffer.from(textAt(object, 'status', 'certificate'), 'base64'));

/**
 * Creates and approves a CertificateSigningRequest. Returns it once the signer has issued the certificate or added a condition, such as
 * Failed.
 */
async function signed(test: TestCluster, given: Spec): Promise<ApiObject> {
  const { metadata } = await test.create(REQUESTS, `r${test.store.revision}`, { spec: given });
  const name = metadata.name!;
  const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'by a test' };
  await test.change(`${REQUESTS}/approval`, name, (one) => ({ ...one, status: { conditions: [condition] } }));
  const find = () => test.find(REQUESTS, name);
  await test.until(() => textAt(find(), 'status', 'certificate') !== '' || typesOf(find()).length > 1);
  return find()!;
}

test('a node’s client certificate is approved and signed if its requester is permitted', async () => {
  await using test = cluster(['create certificatesigningrequests/nodeclient']);
  await test.create(REQUESTS, 'node', { spec: spec(KUBELET, requestFor(NODE), 'digital signature', 'client auth') });
  await test.until(() => textAt(test.find(REQUESTS, 'node'), 'status', 'certificate') !== '');
  const object = test.find(REQUESTS, 'node');
  const approved = 'Approved AutoApproved: Auto approving kubelet client certificate after SubjectAccessReview.';
  assert.deepEqual(typesOf(object), [approved]);
  const certificate = certificateOf(object);
  const issuer = new X509Certificate(authority.certificate);
  assert.ok(certificate.verify(issuer.publicKey) && certificate.checkIssued(issuer) && !certificate.ca);
  assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:n1');
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2']);
  assert.equal(certificate.validFromDate.getTime(), NOW - 300_000);
  assert.equal(certificate.validToDate.getTime(), NOW + 365 * 86_400_000 - 300_000);
});

test('a request is approved once its requester has been granted the permission', async () => {
  const allowed: string[] = [];
  await using test = cluster(allowed);
  await test.create(REQUESTS, 'node', { spec: spec(KUBELET, requestFor(NODE), 'digital signature', 'client auth') });
  await test.atRest();
  assert.deepEqual(test.find(REQUESTS, 'node')?.status, {});
  allowed.push('create certificatesigningrequests/nodeclient');
  await test.until(() => textAt(test.find(REQUESTS, 'node'), 'status', 'certificate') !== '');
  assert.deepEqual(test.warnings, []);
});

test('other requests are left to administrators', async () => {
  const left = async (permission: string, given: Spec) => {
    await using test = cluster([`create certificatesigningrequests/${permission}`]);
    await test.create(REQUESTS, 'node', { spec: given });
    await test.atRest();
    assert.deepEqual(test.find(REQUESTS, 'node')?.status, {}, JSON.stringify(given));
  };
  const usages = ['digital signature', 'client auth'];
  await left('other', spec(KUBELET, requestFor(NODE), ...usages));
  await left('selfnodeclient', spec(KUBELET, requestFor(NODE), ...usages)); // it is not by the node itself
  await left('nodeclient', spec(KUBELET, requestFor(NODE), ...usages, 'server auth'));
  await left('nodeclient', spec(KUBELET, requestFor('/O=system:masters/CN=system:node:n1'), ...usages));
  await left('nodeclient', spec(CLIENT, requestFor(NODE), ...usages));
  await left('nodeclient', spec(SERVING, requestFor(NODE, { names: 'DNS:n1' }), 'digital signature', 'server auth'));
});

test('nodes requesting for themselves need a different permission', () => {
  const request = requestFor('/O=system:nodes/CN=system:node:n1');
  const user = { username: 'system:node:n1', groups: ['system:nodes'] };
  const object = { metadata: {}, spec: { ...spec(KUBELET, request, 'client auth', 'digital signature'), ...user } };
  const asked: string[] = [];
  const decide = (decision: 'allow' | 'deny') => ({
    authorize: ({ user: { username, groups }, apiGroup, subresource }: AuthorizationAttributes) => {
      asked.push(`${username} ${groups} ${apiGroup}/${subresource}`);
      return { decision, reason: '' };
    },
  });
  const message = 'Auto approving self kubelet client certificate after SubjectAccessReview.';
  assert.deepEqual(approvalOf(object, decide('allow')), { message });
  assert.deepEqual(approvalOf(object, decide('deny')), { lacks: ['selfnodeclient', 'nodeclient'] });
  const ask = (subresource: string) => `system:node:n1 system:nodes certificates.k8s.io/${subresource}`;
  assert.deepEqual(asked, [ask('selfnodeclient'), ask('selfnodeclient'), ask('nodeclient')]);
});

test('approved requests are signed with the requested usages, names and lifetime', async () => {
  await using test = cluster();
  const names = 'DNS:n1,IP:192.0.2.1';
  const serving = spec(SERVING, requestFor(NODE, { names }), 'digital signature', 'key encipherment', 'server auth');
  const server = certificateOf(await signed(test, serving));
  assert.equal(server.subjectAltName, 'DNS:n1, IP Address:192.0.2.1');
  assert.deepEqual(server.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  const client = { ...spec(CLIENT, requestFor('/C=DE/O=dev/OU=x/CN=ann'), 'client auth'), expirationSeconds: 3600 };
  const ann = certificateOf(await signed(test, client));
  assert.equal(ann.subject, 'O=dev\nCN=ann');
  assert.equal(ann.validToDate.getTime(), NOW + 3_600_000);
  const long = { ...client, expirationSeconds: 2 ** 31 - 1 };
  const { validToDate } = certificateOf(await signed(test, long));
  assert.equal(validToDate.getTime(), NOW + 365 * 86_400_000 - 300_000);
});

test('a signer refuses what upstream’s refuses', async () => {
  await using test = cluster();
  const check = async (given: Spec, message: string) => {
    const object = await signed(test, given);
    assert.equal(textAt(object, 'status', 'certificate'), '');
    assert.deepEqual(typesOf(object)[1], `Failed SignerValidationFailure: ${message}`);
  };
  const [signature, encipherment, client, server] = [
    'digital signature',
    'key encipherment',
    'client auth',
    'server auth',
  ] as const;
  const kubelet = (request: string) => spec(KUBELET, request, signature, client);
  const serving = (request: string) => spec(SERVING, request, signature, server);
  await check(kubelet(requestFor('/O=a/CN=system:node:n1')), 'subject organization is not system:nodes');
  await check(kubelet(requestFor('/O=system:nodes/O=a/CN=system:node:n1')), 'subject organization is not system:nodes');
  await check(kubelet(requestFor('/O=system:nodes/CN=n1')), 'subject common name does not begin with system:node:');
  const named = (names: string) => kubelet(requestFor(NODE, { names }));
  await check(named('DNS:a'), 'DNS subjectAltNames are not allowed');
  await check(named('IP:192.0.2.1'), 'IP subjectAltNames are not allowed');
  await check(named('email:a@b'), 'Email subjectAltNames are not allowed');
  await check(named('URI:a:b'), 'URI subjectAltNames are not allowed');
  const usages = 'usages did not match [client auth digital signature key encipherment]';
  await check(spec(KUBELET, requestFor(NODE), client), usages);
  await check(spec(KUBELET, requestFor(NODE), signature, client, server), usages);
  await check(serving(requestFor(NODE)), 'DNS or IP subjectAltName is required');
  await check(serving(requestFor(NODE, { names: 'DNS:a,URI:a:b' })), 'URI subjectAltNames are not allowed');
  await check(
    spec(SERVING, requestFor(NODE, { names: 'DNS:a' }), signature, client),
    'usages did not match [digital signature key encipherment server auth]',
  );
  await check(
    serving(requestFor('/O=system:nodes/CN=n1', { names: 'DNS:a' })),
    'subject common name does not begin with system:node:',
  );
  await check(spec(CLIENT, requestFor('/CN=a'), client, server), 'invalid usage for client certificate: server auth');
  await check(
    spec(CLIENT, requestFor('/CN=a'), encipherment),
    'missing required usage for client certificate: client auth',
  );
  await check(spec(CLIENT, requestFor('/O=a'), client), 'subject has no common name');
});

test('denied requests and those of other signers are not signed', async () => {
  await using test = cluster(['create certificatesigningrequests/nodeclient']);
  const usages = ['digital signature', 'client auth'];
  await test.create(REQUESTS, 'other', { spec: spec('example.com/x', requestFor(NODE), ...usages) });
  const decided = (type: string) => ({ conditions: [{ type, status: 'True', reason: 'Test', message: '' }] });
  await test.change(`${REQUESTS}/approval`, 'other', (one) => ({ ...one, status: decided('Approved') }));
  await test.create(REQUESTS, 'denied', { spec: spec(CLIENT, requestFor(NODE), ...usages) });
  await test.change(`${REQUESTS}/approval`, 'denied', (one) => ({ ...one, status: decided('Denied') }));
  await test.atRest();
  for (const name of ['other', 'denied']) assert.equal(textAt(test.find(REQUESTS, name), 'status', 'certificate'), '');
});

test('old requests are deleted', async () => {
  await using test = clusterAt(Date.now);
  const HOUR_MS = 3_600_000;
  const begin = Date.now();
  test.nowMs = begin;
  const given = spec(CLIENT, requestFor('/CN=a'), 'client auth');
  const issued = (await signed(test, given)).metadata.name!;
  await test.create(REQUESTS, 'pending', { spec: given });
  await test.create(REQUESTS, 'unsigned', { spec: { ...given, signerName: 'example.com/x' } });
  await test.create(REQUESTS, 'denied', { spec: given });
  for (const [name, type] of [
    ['unsigned', 'Approved'],
    ['denied', 'Denied'],
  ] as const) {
    const status = { conditions: [{ type, status: 'True' }] };
    await test.change(`${REQUESTS}/approval`, name, (one) => ({ ...one, status }));
  }
  const after = async (ms: number) => {
    await deleteOldRequests({ ...test.parts, now: () => begin + ms });
    return test.store.list(REQUESTS).objects.map(({ key }) => key.slice(1));
  };
  assert.deepEqual(await after(HOUR_MS - 5000), ['denied', 'pending', issued, 'unsigned']);
  assert.deepEqual(await after(HOUR_MS + 5000), ['pending', 'unsigned']);
  assert.deepEqual(await after(24 * HOUR_MS + 5000), []);
});
