import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { ApiError } from '@podwright/api-machinery';
import type { UserInfo } from '@podwright/kube-kinds';
import { BootstrapTokens } from './bootstrap-tokens.ts';
import { type PemPair, type Subject, TestAuthority } from './client-certificates.fixture.ts';
import { RequestAuthenticator } from './request-authenticator.ts';
import { ISSUER, TestCluster } from './test-cluster.fixture.ts';

const authority = new TestAuthority();
const cluster = new TestCluster();
const { store, tokens, now } = cluster;
const bootstrap = new BootstrapTokens({ store, audiences: [ISSUER], now });
const authenticator = new RequestAuthenticator({ tokens: [tokens, bootstrap], audiences: [ISSUER], now });

const serving = authority.issue(['CN = server'], ['subjectAltName = IP:127.0.0.1']);
const tls = { ...serving, ca: authority.certificate, requestCert: true, rejectUnauthorized: false };
const server = createServer(tls, async ({ socket, headers }, response) => {
  const answer = await authenticator
    .authenticate({ tlsSocket: socket as TLSSocket, headers })
    .catch((error: unknown) => (error instanceof ApiError ? error.status : { failed: String(error) }));
  response.end(JSON.stringify({ answer, headers }));
});
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
after(() => {
  server.close();
  authority[Symbol.dispose]();
});

/** Returns the response to a request with a client certificate, and the headers as seen by later handlers. */
async function ask(pair: Partial<PemPair>, headers: Record<string, string> = {}, hours = 0) {
  cluster.nowMs = Date.now() + hours * 3_600_000;
  const { port } = server.address() as AddressInfo;
  const options = { host: '127.0.0.1', port, ca: authority.certificate, agent: false as const, headers, ...pair };
  const text = await new Promise<string>((resolve, reject) => {
    const sent = request(options, async (response) => {
      let body = '';
      for await (const chunk of response) body += chunk;
      resolve(body);
    });
    sent.on('error', reject);
    sent.end();
  });
  return JSON.parse(text) as { answer?: UserInfo & { code?: number }; headers: IncomingHttpHeaders };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test('a client certificate names the user, the groups and the UID', async () => {
  const pair = authority.issue(['0.O = dev', '1.O = "a, O=system:masters"', 'CN = alice', 'kubeUid = 42']);
  const fingerprint = createHash('sha256').update(new X509Certificate(pair.cert).raw).digest('hex');
  assert.deepEqual((await ask(pair)).answer, {
    username: 'alice',
    uid: '42',
    groups: ['dev', 'a, O=system:masters', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
  });
});

test('if there are several common names, the last wins, as in Go', async () => {
  assert.equal((await ask(authority.issue(['0.CN = alice', '1.CN = bob']))).answer?.username, 'bob');
});

test('certificates not valid for clients are rejected', async () => {
  using other = new TestAuthority();
  const check = async (pair: PemPair) => assert.equal((await ask(pair)).answer?.code, 401);
  const of = (subject: Subject, extensions: string[] = []) => authority.issue(subject, extensions);
  await check(other.issue(['CN = alice']));
  await check(of(['CN = alice'], ['extendedKeyUsage = serverAuth']));
  await check(of(['CN = alice', '0.kubeUid = 1', '1.kubeUid = 2']));
  assert.ok((await ask(of(['CN = alice'], ['extendedKeyUsage = clientAuth']))).answer?.username);
});

test('a certificate that expires while its connection is open is rejected', async () => {
  const pair = authority.issue(['CN = alice']);
  const at = async (hours: number) => {
    const { answer } = await ask(pair, {}, hours);
    return answer?.username ?? answer?.code;
  };
  assert.deepEqual([await at(-2), await at(23), await at(25)], [401, 'alice', 401]);
});

test('a request without credentials has no user', async () => {
  const check = async (pair: Partial<PemPair>, headers = {}) =>
    assert.equal((await ask(pair, headers)).answer, undefined);
  await check({});
  await check(authority.issue(['O = system:masters']));
  await check({}, { authorization: 'Basic YTpi' });
  await check({}, { authorization: 'Bearer ' });
  await check({}, { authorization: `Bearer  ${cluster.token()}` });
});

test('a token is accepted, and removed from the headers', async () => {
  const { answer, headers } = await ask({}, bearer(cluster.token()));
  assert.equal(answer?.username, 'system:serviceaccount:shop:app');
  assert.deepEqual(answer?.groups, ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated']);
  assert.equal(headers.authorization, undefined);
});

test('a WebSocket request may pass the token as a subprotocol', async () => {
  const socket = { connection: 'keep-alive, Upgrade', upgrade: 'websocket' };
  const encoded = `base64url.bearer.authorization.k8s.io.${Buffer.from(cluster.token()).toString('base64url')}`;
  const check = async (protocols: string, expected: unknown, changes = {}) => {
    const headers: IncomingHttpHeaders = { ...socket, 'sec-websocket-protocol': protocols, ...changes };
    const answer = await authenticator.authenticate({ headers }).catch((error: ApiError) => error.status.code);
    assert.equal((answer as UserInfo)?.username ?? answer, expected, protocols);
    return headers['sec-websocket-protocol'];
  };
  const account = 'system:serviceaccount:shop:app';
  assert.equal(
    await check(`v4.channel.k8s.io, ${encoded},base64.binary.k8s.io`, account),
    'v4.channel.k8s.io,base64.binary.k8s.io',
  );
  await check('v4.channel.k8s.io', undefined);
  await check(`v4.channel.k8s.io,${encoded}`, undefined, { upgrade: 'h2c' });
  await check(encoded, 401);
  await check(`v4.channel.k8s.io,${encoded},${encoded}`, 401);
  await check('v4.channel.k8s.io,base64url.bearer.authorization.k8s.io.!', 401);
  await check('v4.channel.k8s.io,base64url.bearer.authorization.k8s.io._w', 401);
});

test('an invalid token is rejected unless there is a valid certificate', async () => {
  assert.equal((await ask({}, bearer('x'))).answer?.code, 401);
  const { answer, headers } = await ask(authority.issue(['CN = alice']), bearer('x'));
  assert.equal(answer?.username, 'alice');
  assert.equal(headers.authorization, undefined);
});

test('a valid token is accepted even with a certificate of another CA', async () => {
  using other = new TestAuthority();
  const { answer } = await ask(other.issue(['CN = alice']), bearer(cluster.token()));
  assert.equal(answer?.username, 'system:serviceaccount:shop:app');
});

test('a store failure is not reported as unauthorized', async () => {
  const failing = { authenticate: () => assert.fail('the store is closed') };
  const parts = { tokens: [failing], audiences: [ISSUER], now };
  await assert.rejects(new RequestAuthenticator(parts).authenticate({ headers: bearer('x') }), /store is closed/);
});
