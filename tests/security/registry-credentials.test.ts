/** A user's registry credentials are sent only to the host they are for, not to hosts that it refers to (CVE-2020-15157). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { RegistryAuth } from '../../packages/images/src/registry/registry-auth.ts';
import { makeCertificates } from '../images/docker-registry.ts';
import { type Fault, FaultyRegistry } from '../images/faulty-registry.ts';
import { type ImageRoom, openImageRoom, scratch } from '../images/image-room.ts';
import { addImage, makeLayer } from '../images/made-image.ts';
import { rejects } from '../images/rejects.ts';

const me = { username: 'me', password: 'secret' };
const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`;
const layer = makeLayer({ a: randomBytes(50).toString('hex') });

const redirectTo =
  (host: string, kind = ''): Fault =>
  ({ path }, response) =>
    path.includes(kind) && Boolean(response.writeHead(307, { location: `http://${host}${path}` }).end());

const challenge =
  (header: string): Fault =>
  ({ headers }, response) =>
    headers.authorization === undefined && Boolean(response.writeHead(401, { 'www-authenticate': header }).end());

/**
 * Returns the credentials that a server has received: authorization headers, account names, and request bodies, which contain a token or
 * password.
 */
const learned = ({ requests }: FaultyRegistry): string[] =>
  requests.flatMap(({ headers, query, method }) => [
    ...(headers.authorization === undefined ? [] : [headers.authorization]),
    ...(query.get('account') === null ? [] : [`account ${query.get('account')}`]),
    ...(method === 'POST' ? ['a body'] : []),
  ]);

type Attack = {
  /** The registry named in the image reference, whose credentials the user has configured. */
  registry: FaultyRegistry;
  /** Servers of other parties, which must not receive the user's credentials. */
  foreign: FaultyRegistry;
  thief: FaultyRegistry;
  room: ImageRoom;
  pull: (auth?: RegistryAuth) => Promise<unknown>;
};

async function start(t: TestContext, secure = false): Promise<Attack> {
  const root = await scratch(t);
  const files = secure ? makeCertificates(root, 'registry') : undefined;
  const tls = files && { cert: readFileSync(files.certificate), key: readFileSync(files.key) };
  const registry = await FaultyRegistry.start('127.0.0.1', tls);
  const [foreign, thief] = [await FaultyRegistry.start(), await FaultyRegistry.start()];
  const room = await openImageRoom(join(root, 'room'));
  t.after(async () => {
    await room[Symbol.asyncDispose]();
    for (const server of [registry, foreign, thief]) await server[Symbol.asyncDispose]();
  });
  for (const server of [registry, foreign]) addImage(server, { tag: '1', layers: [layer] });
  const pull = (auth: RegistryAuth = me) =>
    room.images.pull(`${registry.host}/room/app:1`, { auth, signal: AbortSignal.timeout(60_000) });
  return { registry, foreign, thief, room, pull };
}

test('a redirect leads to a server that requests a login elsewhere', async (t) => {
  const { registry, foreign, thief, pull } = await start(t);
  registry.faults = [redirectTo(foreign.host)];
  foreign.faults = [challenge(`Bearer realm="http://${thief.host}/token",service="x"`)];
  thief.faults = [(_request, response) => Boolean(response.end('{"token":"t"}'))];
  const credentials: RegistryAuth[] = [
    me,
    { ...me, serverAddress: registry.host },
    { auth: Buffer.from('me:secret').toString('base64') },
    { identityToken: 'refresh' },
  ];
  for (const auth of credentials)
    await rejects(pull(auth), 'unauthenticated', new RegExp(`${foreign.host} answered 401`));
  assert.deepEqual([learned(foreign), learned(thief)], [[], []]);
  assert.equal(thief.requests.length, 0, 'the foreign server gets no request');
});

test('a redirect leads to a server that requests Basic credentials, even for layers only', async (t) => {
  const { registry, foreign, pull } = await start(t);
  foreign.faults = [challenge('Basic realm="x"')];
  for (const kind of ['/manifests/', '/blobs/']) {
    registry.faults = [redirectTo(foreign.host, kind)];
    await rejects(pull(), 'unauthenticated', /answered 401/);
  }
  assert.deepEqual(learned(foreign), []);
});

test('layers come from the redirect target, without credentials', async (t) => {
  const { registry, foreign, pull } = await start(t);
  registry.faults = [challenge('Basic realm="x"'), redirectTo(foreign.host, '/blobs/')];
  await pull();
  assert.ok(learned(registry).every((sent) => sent === basic) && learned(registry).length > 0);
  assert.ok(foreign.requestsFor('blobs').length > 0);
  assert.deepEqual(learned(foreign), []);
});

test('a token server redirects to another one', async (t) => {
  const { registry, foreign, thief, pull } = await start(t);
  registry.faults = [challenge(`Bearer realm="http://${foreign.host}/token",service="x"`)];
  foreign.faults = [redirectTo(thief.host)];
  thief.faults = [(_request, response) => Boolean(response.writeHead(401, { 'www-authenticate': 'Basic' }).end())];
  await rejects(pull(), 'unauthenticated', /get a token/);
  assert.deepEqual(learned(thief), []);
  await rejects(pull({ identityToken: 'refresh' }), 'unavailable', /answered 307/);
  assert.equal(thief.requests.length, 1, 'a redirect of a POST is not followed');
});

test('an encrypted registry specifies an unencrypted token server, directly or by a redirect', async (t) => {
  const { registry, foreign, thief, pull } = await start(t, true);
  const header = `Bearer realm="http://${thief.host}/token"`;
  thief.faults = [(_request, response) => Boolean(response.end('{"token":"t"}'))];
  registry.faults = [challenge(header)];
  for (const auth of [me, { username: 'me' }, { identityToken: 'refresh' }])
    await rejects(
      pull(auth),
      'permission_denied',
      /refusing to send credentials to the token server .* without encryption/,
    );
  registry.faults = [redirectTo(foreign.host)];
  foreign.faults = [challenge(header)];
  await rejects(pull(), 'unauthenticated', /answered 401/);
  assert.deepEqual([learned(foreign), thief.requests.length], [[], 0]);
});

test('a mirror requests the registry’s credentials', async (t) => {
  const { registry, foreign: mirror, thief, room, pull } = await start(t);
  const directory = join(room.root, 'certs.d', registry.host);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'hosts.toml'), `server = "http://${registry.host}"\n[host."http://${mirror.host}"]\n`);
  registry.faults = [challenge('Basic realm="x"')];
  for (const header of ['Basic realm="x"', `Bearer realm="http://${thief.host}/token"`]) {
    mirror.faults = [challenge(header)];
    thief.faults = [(_request, response) => Boolean(response.writeHead(403).end())];
    await pull({ ...me, serverAddress: registry.host });
    await room.images.remove(`${registry.host}/room/app:1`);
  }
  assert.ok(mirror.requests.length > 0 && thief.requests.length > 0, 'the server was requested without credentials');
  assert.deepEqual([learned(mirror), learned(thief)], [[], []]);
});
