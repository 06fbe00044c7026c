/** CRI over TCP: mutual TLS, a generic gRPC client, and HTTPS streams. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ChannelCredentials, Client, credentials } from '@grpc/grpc-js';
import { silentLogger } from '@podwright/base';
import { connectCri } from '@podwright/cri';
import type { ClientTls } from '@podwright/grpc';
import { runProgram } from '@podwright/host';
import { Certificates } from '../fixtures/certificates.ts';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';

const runtime = new RuntimeUnderTest();
const tlsDirectory = join(runtime.place.directory, 'image', 'tls');
const certificates = new Certificates(tlsDirectory);
const path = (name: string) => certificates.path(name);
const serverFiles = { certificate: path('server.crt'), key: path('server.key') };

before(async () => {
  mkdirSync(tlsDirectory, { recursive: true });
  await certificates.makeAuthority('authority');
  await certificates.makeAuthority('stranger');
  for (const name of ['server', 'friend']) await certificates.make(name, 'authority');
  await certificates.make('enemy', 'stranger');
  await runtime.start({
    tcp: { address: '127.0.0.1', port: 0, tls: { ...serverFiles, clientCa: path('authority.crt') } },
    streaming: { address: '127.0.0.1', port: 0, tls: serverFiles },
  });
});
after(async () => assert.deepEqual(await runtime.end(), []));

const tlsOf = (name: string): ClientTls => ({
  ca: certificates.read('authority.crt'),
  certificate: certificates.read(`${name}.crt`),
  key: certificates.read(`${name}.key`),
});

function connect(tls: ClientTls | undefined, connectTimeoutMs = 60_000) {
  return connectCri({
    runtimeEndpoint: `tcp://127.0.0.1:${runtime.tcpPort}`,
    tls,
    logger: silentLogger,
    connectTimeoutMs,
  });
}

test('a pod started over TCP is listed on the socket', async () => {
  const cri = await connect(tlsOf('friend'));
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(runtime.place, 'remote') });
  const { items } = await runtime.cri.runtime.listPodSandbox({ filter: { id: podSandboxId } });
  assert.deepEqual(
    items.map(({ metadata }) => metadata?.name),
    ['remote'],
  );
  await cri.runtime.removePodSandbox({ podSandboxId });
  cri.close();
});

test('clients without a certificate signed by the CA are rejected', async () => {
  const { certificate: _, key: __, ...anonymous } = tlsOf('friend');
  const outcomes = await Promise.allSettled([
    connect(tlsOf('enemy'), 1000),
    connect(anonymous, 1000),
    connect(undefined, 1000),
  ]);
  for (const outcome of outcomes) {
    assert.equal(outcome.status, 'rejected');
    assert.equal((outcome.reason as { code: string }).code, 'unavailable');
  }
});

/** Encodes a protobuf string field for strings shorter than 128 bytes, whose length takes one byte. */
const field = (number: number, text: string) =>
  Buffer.concat([Buffer.from([(number << 3) | 2, text.length]), Buffer.from(text)]);
const asIs = (bytes: Buffer) => bytes;

function genericClient(as: ChannelCredentials = friendly()): Client {
  return new Client(`127.0.0.1:${runtime.tcpPort}`, as);
}

function friendly(): ChannelCredentials {
  const { ca, key, certificate } = tlsOf('friend');
  return credentials.createSsl(ca, key, certificate);
}

test('a generic gRPC client finds the services by reflection', async () => {
  const client = genericClient();
  const stream = client.makeBidiStreamRequest('/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', asIs, asIs);
  stream.write(field(7, '')); // list_services
  const [answer] = (await once(stream, 'data')) as [Buffer];
  stream.end();
  await once(stream, 'end');
  client.close();
  for (const service of [
    'runtime.v1.RuntimeService',
    'runtime.v1.ImageService',
    'runtime.v1alpha2.RuntimeService',
    'grpc.health.v1.Health',
  ])
    assert.ok(answer.includes(service), service);
});

test('the health service reports that the services are serving', async () => {
  const client = genericClient();
  for (const service of ['', 'runtime.v1.RuntimeService', 'runtime.v1.ImageService']) {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    client.makeUnaryRequest('/grpc.health.v1.Health/Check', asIs, asIs, field(1, service), (error, answer) =>
      error === null ? resolve(answer!) : reject(error),
    );
    assert.deepEqual([...(await promise)], [8, 1], 'status SERVING');
  }
  client.close();
});

test('a command runs over https for a client that trusts the CA', async () => {
  const { cri, image } = runtime;
  const { podSandboxId } = await cri.runtime.runPodSandbox({ config: podOf(runtime.place, 'streams') });
  const config = containerOf(image, 'main', 'exec sleep 1000');
  const { containerId } = await cri.runtime.createContainer({ podSandboxId, config });
  await cri.runtime.startContainer({ containerId });
  const child = new URL('./exec-at-url.child.ts', import.meta.url).pathname;
  const exec = async (authority: string) => {
    const { url } = await cri.runtime.exec({ containerId, cmd: ['echo', 'hello'], stdout: true, stderr: true });
    assert.match(url, /^https:\/\/127\.0\.0\.1:/);
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: path(authority) };
    return await runProgram(process.execPath, [child, url], { env, signal: AbortSignal.timeout(60_000) });
  };
  const trusting = await exec('authority.crt');
  assert.deepEqual([trusting.exitCode, trusting.stdout], [0, 'hello\n'], trusting.stderr);
  assert.match((await exec('stranger.crt')).stderr, /unable to verify|self.signed/i);
  await cri.runtime.removePodSandbox({ podSandboxId });
});

test('invalid certificates fail the start, naming the file', async () => {
  const place = new RuntimeUnderTest();
  const tcp = (files: object) => ({
    address: '127.0.0.1',
    port: 0,
    tls: { ...serverFiles, clientCa: path('authority.crt'), ...files },
  });
  writeFileSync(path('not.pem'), 'x');
  for (const [files, message] of [
    [{ key: '/no/such.key' }, /read TLS file \/no\/such\.key: no such file or directory/],
    [{ clientCa: path('not.pem') }, /not\.pem: it is not in PEM format/],
    [{ key: path('friend.key') }, /listen on tcp:\/\/127\.0\.0\.1:0: .*mismatch/i],
  ] as const)
    await assert.rejects(place.start({ tcp: tcp(files) }), { message });
  await place.start({ tcp: { address: '127.0.0.1', port: 0 } });
  const plain = await connectCri({ runtimeEndpoint: `tcp://127.0.0.1:${place.tcpPort}`, logger: silentLogger });
  assert.equal((await plain.runtime.version({})).runtimeName, 'podwright');
  plain.close();
  assert.deepEqual(await place.end(), []);
});
