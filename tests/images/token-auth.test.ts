/** Token authentication with Debian's docker-registry, which verifies tokens, and a token server, which signs them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { runChecked } from '@podwright/host';
import type { RegistryAuth } from '../../packages/images/src/registry/registry-auth.ts';
import { makeBusyboxImage } from '../fixtures/busybox-image.ts';
import { DockerRegistry } from './docker-registry.ts';
import { type ImageRoom, openImageRoom } from './image-room.ts';
import { rejects } from './rejects.ts';
import { TokenServer } from './token-server.ts';

const directory = mkdtempSync('/var/tmp/podwright-images-');
const me = { username: 'me', password: 'secret' };
let tokens: TokenServer;
let registry: DockerRegistry;
let room: ImageRoom & AsyncDisposable;

before(async () => {
  tokens = await TokenServer.start(directory);
  registry = await DockerRegistry.start(directory, tokens.settings);
  room = await openImageRoom(join(directory, 'room'));
  const { layout } = await makeBusyboxImage(join(directory, 'layout'));
  const copy = ['copy', '-q', '--dest-tls-verify=false', '--dest-creds', 'me:secret'];
  // skopeo must run asynchronously, because it calls the token server in this process
  await runChecked('skopeo', [...copy, `oci:${layout}:1`, `docker://${registry.host}/private/app:1`]);
});

beforeEach(() => {
  tokens.requests.length = 0;
  tokens.fault = () => 'good';
});

after(async () => {
  await room[Symbol.asyncDispose]();
  await registry[Symbol.asyncDispose]();
  await tokens[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

async function pullAfresh(auth?: RegistryAuth): Promise<void> {
  const { id } = await room.images.pull(`${registry.host}/private/app:1`, {
    signal: AbortSignal.timeout(60_000),
    auth,
  });
  await room.images.remove(id);
}

test('a pull fetches one token for the repository', async () => {
  await pullAfresh(me);
  assert.deepEqual(tokens.requests, [{ method: 'GET', user: 'me', scopes: ['repository:private/app:pull'] }]);
});

test('the other forms of credentials get a token too', async () => {
  await pullAfresh({ auth: Buffer.from('me:secret').toString('base64') });
  await pullAfresh({ identityToken: 'my refresh token' });
  assert.deepEqual(
    tokens.requests.map(({ method, user }) => `${method} ${user}`),
    ['GET me', 'POST me'],
  );
});

test('a token that the registry refuses as expired is fetched again', async () => {
  tokens.fault = () => (tokens.requests.length === 1 ? 'expired' : 'good');
  await pullAfresh(me);
  assert.equal(tokens.requests.length, 2);
});

test('the error for a forbidden pull says so, after a bounded number of token requests', async () => {
  await rejects(pullAfresh(), 'unauthenticated', /401 \(UNAUTHORIZED: .*\); it does not exist, or needs credentials/);
  tokens.fault = () => 'nothing allowed';
  await rejects(pullAfresh(me), ['unauthenticated', 'permission_denied'], /401|403/);
  tokens.fault = () => 'refused';
  await rejects(pullAfresh(me), 'unauthenticated', /get a token from http:.* 401 \(UNAUTHORIZED: who are you\?\)/);
  tokens.fault = () => 'expired';
  await rejects(pullAfresh(me), 'unauthenticated', /401/);
  assert.ok(tokens.requests.length < 20, `${tokens.requests.length} tokens were requested`);
});
