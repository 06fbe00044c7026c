import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Authorizer } from './authorizer.ts';
import { HttpClient } from './http-client.ts';
import { defaultHost } from './registry-host.ts';

const { signal } = new AbortController();

/** Returns the `authorization` header sent to a host after a Basic challenge from `url`, with credentials for `serverAddress`. */
async function sentTo(
  baseUrl: string,
  serverAddress: string,
  url = baseUrl,
  namespace = '',
): Promise<string | undefined> {
  const http = new HttpClient({ stallTimeoutMs: 1000, documentTimeoutMs: 1000, environment: {} });
  const auth = { username: 'me', password: 'secret', serverAddress };
  const authorizer = new Authorizer({ http, auth, repositoryPath: 'room/app', signal });
  const host = { ...defaultHost('x.example'), baseUrl, namespace };
  const headers = { 'www-authenticate': 'Basic realm="x"' };
  const body = (async function* () {})();
  const document = async () => Buffer.alloc(0);
  const response = { status: 401, headers, url, body, document, discard: () => undefined };
  await authorizer.answer(host, response, undefined);
  return authorizer.headerFor(host);
}

test('credentials are sent only to their server address’s host, in any spelling', async () => {
  const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`;
  const check = async (baseUrl: string, serverAddress: string, goes: boolean) =>
    assert.equal(await sentTo(baseUrl, serverAddress), goes ? basic : undefined, `${baseUrl} ${serverAddress}`);
  await check('https://x.example/v2', '', true);
  await check('https://x.example/v2', 'x.example', true);
  await check('https://x.example/v2', 'https://x.example/v1/', true);
  await check('https://x.example:5000/v2', 'x.example:5000', true);
  await check('https://registry-1.docker.io/v2', 'https://index.docker.io/v1/', true);
  await check('https://registry-1.docker.io/v2', 'docker.io', true);
  await check('https://x.example:5000/v2', 'x.example', false);
  await check('https://mirror.example/v2', 'docker.io', false);
  await check('https://x.example.evil/v2', 'x.example', false);
});

test('credentials without a server address are also sent to mirrors, but not over plain HTTP', async () => {
  const check = async (baseUrl: string, serverAddress: string, goes: boolean) =>
    assert.equal((await sentTo(baseUrl, serverAddress, baseUrl, 'x.example')) !== undefined, goes, baseUrl);
  await check('https://mirror.example/v2', '', true);
  await check('http://127.0.0.1:5000/v2', '', true);
  await check('http://mirror.example/v2', '', false);
  await check('http://mirror.example/v2', 'mirror.example', true);
});

test('challenges are answered only if from the host itself, not from a host it redirects to', async () => {
  const check = async (baseUrl: string, url: string, goes: boolean) =>
    assert.equal((await sentTo(baseUrl, '', url)) !== undefined, goes, `${baseUrl} ${url}`);
  await check('https://x.example/v2', 'https://x.example/v2/room/app/manifests/1', true);
  await check('http://x.example/v2', 'https://x.example/v2/room/app/manifests/1', true);
  await check('https://x.example/v2', 'http://x.example/v2/room/app/manifests/1', false);
  await check('https://x.example/v2', 'https://x.example:8443/v2/room/app/manifests/1', false);
  await check('https://x.example/v2', 'https://cdn.x.example/v2/room/app/manifests/1', false);
  await check('https://x.example/v2', 'https://evil.example/v2/room/app/manifests/1', false);
});
