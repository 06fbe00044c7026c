import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ContentStore } from '../../packages/images/src/content/content-store.ts';
import { Authorizer } from '../../packages/images/src/registry/authorizer.ts';
import { downloadBlob } from '../../packages/images/src/registry/blob-download.ts';
import { HttpClient } from '../../packages/images/src/registry/http-client.ts';
import type { RegistryAuth } from '../../packages/images/src/registry/registry-auth.ts';
import { RegistryClient } from '../../packages/images/src/registry/registry-client.ts';
import { defaultHost, type RegistryHost } from '../../packages/images/src/registry/registry-host.ts';
import { mediaTypes } from '../../packages/images/src/spec/media-types.ts';
import { parseReference } from '../../packages/images/src/spec/reference.ts';
import { cutBlob, FaultyRegistry, sendError } from './faulty-registry.ts';
import { rejects } from './rejects.ts';

const retryPolicy = { initialDelayMs: 1, maxDelayMs: 5, maxFailures: 3, maxFailuresInAll: 50 };
const manifest = { schemaVersion: 2, mediaType: mediaTypes.ociManifest, layers: [] };

type Setup = { auth?: RegistryAuth; hosts?: RegistryHost[]; stallTimeoutMs?: number; environment?: NodeJS.ProcessEnv };

/** Starts a registry, and creates a client for `<registry>/room/app:1` along with the components it needs, up to the content store. */
async function start(t: TestContext, setup: Setup = {}) {
  const registry = await FaultyRegistry.start();
  const root = await mkdtemp(join(tmpdir(), 'registry-client-'));
  const content = await ContentStore.open(root);
  const { stallTimeoutMs = 5000, environment = {} } = setup;
  const http = new HttpClient({ stallTimeoutMs, documentTimeoutMs: 60_000, environment });
  const abort = new AbortController();
  const { signal } = abort;
  t.after(async () => {
    http.close();
    await registry[Symbol.asyncDispose]();
    await rm(root, { recursive: true });
  });
  const reference = parseReference(`${registry.host}/room/app:1`);
  const hosts = setup.hosts?.length ? [...setup.hosts, defaultHost(registry.host)] : [defaultHost(registry.host)];
  const authorizer = new Authorizer({ http, auth: setup.auth ?? {}, repositoryPath: reference.path, signal });
  const client = new RegistryClient({ http, authorizer, hosts, reference, retryPolicy, signal });
  const progress: number[] = [];
  const download = (blob: { digest: string; size: number }) =>
    downloadBlob({
      client,
      content,
      descriptor: { mediaType: '', platform: undefined, ...blob },
      retryPolicy,
      signal,
      onProgress: (bytes) => progress.push(bytes),
    });
  return { registry, content, client, download, progress, abort, root };
}

test('a tag is resolved by HEAD over plain http, and its manifest is fetched by digest', async (t) => {
  const { registry, client } = await start(t);
  const expected = registry.addManifest('1', manifest, mediaTypes.ociManifest);
  const { descriptor, data } = await client.resolve();
  assert.deepEqual(
    [descriptor.digest, descriptor.size, descriptor.mediaType, data],
    [...Object.values(expected), undefined],
  );
  assert.deepEqual(JSON.parse(String(await client.fetchManifest(descriptor))), manifest);
  const requests = registry.requests.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(requests, ['HEAD /v2/room/app/manifests/1', `GET /v2/room/app/manifests/${expected.digest}`]);
  assert.match(registry.requests[0]?.headers.accept ?? '', /vnd\.oci\.image\.index\.v1\+json/);
});

test('a tag is resolved by GET if the registry does not support HEAD', async (t) => {
  const { registry, client } = await start(t);
  const expected = registry.addManifest('1', manifest, mediaTypes.dockerManifest);
  registry.faults.push(({ method }, response) => method === 'HEAD' && Boolean(response.writeHead(405).end()));
  const { descriptor, data } = await client.resolve();
  assert.equal(descriptor.digest, expected.digest);
  assert.deepEqual(JSON.parse(String(data)), manifest);
});

test('the error for a registry that serves manifests only by tag says so', async (t) => {
  const { registry, client } = await start(t);
  const { digest } = registry.addManifest('1', manifest, mediaTypes.ociManifest);
  const { descriptor } = await client.resolve();
  registry.manifests.delete(digest);
  await rejects(client.fetchManifest(descriptor), 'not_found', /it must serve manifests by digest, not only by tag$/);
});

test("the error for a missing image is not_found, with the registry's message", async (t) => {
  const { client } = await start(t);
  await rejects(
    client.resolve(),
    'not_found',
    /pull 127.*room\/app:1: .* answered 404 \(NAME_UNKNOWN: repository name/,
  );
});

test('the error for a registry that is down is unavailable, without retries', async (t) => {
  const { registry, client } = await start(t);
  await registry[Symbol.asyncDispose]();
  await rejects(client.resolve(), 'unavailable', /connect to .*: connection refused; is the registry running\?/);
});

test('requests to a busy registry are retried', async (t) => {
  const { registry, client } = await start(t);
  registry.addManifest('1', manifest, mediaTypes.ociManifest);
  const answers = [503, 429, 500];
  registry.faults.push((_request, response) => {
    const status = answers.shift();
    return status !== undefined && sendError(response, { status, code: 'BUSY', message: 'later' });
  });
  await client.resolve();
  registry.faults.push((_request, response) =>
    sendError(response, { status: 429, code: 'TOOMANYREQUESTS', message: 'pull rate limit' }),
  );
  await rejects(client.resolve(), 'unavailable', /429 \(TOOMANYREQUESTS: pull rate limit\); too many requests/);
});

test('an interrupted layer download resumes with only the missing bytes', async (t) => {
  const { registry, content, download, progress } = await start(t);
  const data = randomBytes(1_000_000);
  const blob = registry.addBlob(data);
  registry.faults.push(cutBlob(data, { bytes: 150_000, times: 5 }));
  await download(blob);
  assert.deepEqual(await readFile(content.path(blob.digest)), data);
  const starts = registry.requestsFor('blobs').map(({ headers }) => headers.range);
  assert.deepEqual(starts, [undefined, ...[150_000, 300_000, 450_000, 600_000, 750_000].map((at) => `bytes=${at}-`)]);
  assert.equal(registry.blobBytesSent, 250_000);
  assert.equal(progress.at(-1), data.length);
});

test('a layer download fails after a limited number of attempts, and a later pull resumes it', async (t) => {
  const { registry, content, download, root } = await start(t);
  const data = randomBytes(300_000);
  const blob = registry.addBlob(data);
  registry.faults.push(cutBlob(data, { bytes: 100_000, times: 1 }));
  registry.faults.push((_request, response) => Boolean(response.destroy()));
  await rejects(download(blob), 'unavailable', /connection was cut/);
  assert.equal(registry.requests.length, 4);
  assert.equal((await readdir(join(root, 'content/ingest'))).length, 1);
  registry.faults = [];
  await download(blob);
  assert.equal(registry.requests.at(-1)?.headers.range, 'bytes=100000-');
  assert.ok(await content.has(blob));
});

test('a download is retried if the registry becomes unreachable midway', async (t) => {
  const { registry, content, download } = await start(t);
  const data = randomBytes(300_000);
  const blob = registry.addBlob(data);
  registry.faults.push(cutBlob(data, { bytes: 100_000, times: 1 }));
  let refused = 0;
  registry.faults.push(
    ({ headers }, response) => headers.range !== undefined && refused++ < 2 && Boolean(response.destroy()),
  );
  await download(blob);
  assert.ok(await content.has(blob));
});

test('if a server ignores ranges, the bytes already present are skipped', async (t) => {
  const { registry, content, download } = await start(t);
  const data = randomBytes(400_000);
  const blob = registry.addBlob(data);
  registry.faults.push(cutBlob(data, { bytes: 100_000, times: 1 }));
  registry.faults.push((_request, response) => Boolean(response.writeHead(200).end(data)));
  await download(blob);
  assert.deepEqual(await readFile(content.path(blob.digest)), data);
});

test('a stalled download is aborted and resumed', async (t) => {
  const { registry, content, download } = await start(t, { stallTimeoutMs: 1000 });
  const data = randomBytes(300_000);
  const blob = registry.addBlob(data);
  let stalls = 1;
  registry.faults.push((_request, response) => {
    if (stalls-- <= 0) return false;
    response.writeHead(200, { 'content-length': data.length });
    return Boolean(response.write(data.subarray(0, 1000))) || true;
  });
  await download(blob);
  assert.ok(await content.has(blob));
  assert.equal(registry.requests.at(-1)?.headers.range, 'bytes=1000-');
});

test('a slow transfer is not aborted, however long it takes', async (t) => {
  const { registry, content, download } = await start(t, { stallTimeoutMs: 3000 });
  const data = randomBytes(45);
  const blob = registry.addBlob(data);
  const startMs = performance.now();
  registry.faults.push((_request, response) => {
    response.writeHead(200, { 'content-length': data.length });
    let sent = 0;
    const timer = setInterval(() => {
      response.write(data.subarray(sent, ++sent));
      if (sent === data.length) clearInterval(timer);
    }, 90);
    return true;
  });
  await download(blob);
  assert.ok(await content.has(blob));
  assert.equal(registry.requests.length, 1);
  assert.ok(performance.now() - startMs > 3000, 'longer than the stall timeout');
});

test('the error for a registry that accepts connections but does not respond is deadline_exceeded', async (t) => {
  const { registry, client } = await start(t, { stallTimeoutMs: 50 });
  registry.faults.push(() => true);
  await rejects(client.resolve(), 'deadline_exceeded', /no byte for 50 ms/);
});

test('wrong content and wrong sizes are refused and leave nothing behind', async (t) => {
  const { registry, content, download, root } = await start(t);
  const data = randomBytes(200_000);
  const blob = registry.addBlob(data);
  registry.blobs.set(blob.digest, randomBytes(200_000));
  await rejects(download(blob), 'data_loss', /the content has the digest/);
  registry.blobs.set(blob.digest, data.subarray(1));
  await rejects(download(blob), 'data_loss', /it has 199999 bytes, not 200000/);
  await rejects(download({ ...blob, size: 1000 }), 'data_loss', /not 1000/);
  registry.faults.push((_request, response) => Boolean(response.writeHead(200).end(randomBytes(400_000))));
  await rejects(download(blob), 'data_loss', /more than the 200000 bytes announced/);
  assert.deepEqual(await content.list(), []);
  assert.deepEqual(await readdir(join(root, 'content/ingest')), []);
});

test('a manifest that does not match its digest is refused', async (t) => {
  const { registry, client } = await start(t);
  const entry = registry.addManifest('1', manifest, mediaTypes.ociManifest);
  registry.manifests.set(entry.digest, { data: Buffer.alloc(entry.size, ' '), mediaType: mediaTypes.ociManifest });
  const descriptor = { ...entry, platform: undefined };
  await rejects(client.fetchManifest(descriptor), 'data_loss', /the content is sha256:/);
  registry.manifests.set(entry.digest, { data: Buffer.alloc(5 << 20, ' '), mediaType: mediaTypes.ociManifest });
  await rejects(client.fetchManifest(descriptor), 'resource_exhausted', /more than 4194304 bytes/);
  await rejects(client.fetchManifest({ ...descriptor, size: 2 ** 40 }), 'resource_exhausted', /1099511627776 bytes/);
});

/** Makes the registry require a token issued by its own `/token`. `accepts` returns the token to issue, or '' to reject the request. */
function requireToken(
  registry: FaultyRegistry,
  accepts: (authorization: string, scope: string | null) => string,
): void {
  registry.faults.push(({ path, headers, query }, response) => {
    if (path === '/token') {
      const token = accepts(headers.authorization ?? '', query.get('scope'));
      if (token === '') return Boolean(response.writeHead(401).end('{"details":"incorrect username or password"}'));
      return Boolean(response.writeHead(200).end(JSON.stringify({ token, expires_in: 300 })));
    }
    if (headers.authorization === 'Bearer good') return false;
    const challenge = `Bearer realm="http://${registry.host}/token",service="faulty",scope="repository:room/app:pull"`;
    const headersOut = { 'www-authenticate': challenge };
    return sendError(response, { status: 401, code: 'UNAUTHORIZED', message: 'log in', headers: headersOut });
  });
}

const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`;

test('a token is fetched once with credentials, for the scope in the challenge', async (t) => {
  const { registry, client, download } = await start(t, { auth: { username: 'me', password: 'secret' } });
  const scopes: (string | null)[] = [];
  requireToken(registry, (authorization, scope) => {
    scopes.push(scope);
    return authorization === basic ? 'good' : '';
  });
  registry.addManifest('1', manifest, mediaTypes.ociManifest);
  await client.resolve();
  await Promise.all([1, 2, 3].map(() => download(registry.addBlob(randomBytes(10_000)))));
  assert.deepEqual(scopes, ['repository:room/app:pull']);
});

test('the auth field of a Docker config entry works as credentials', async (t) => {
  const auth = Buffer.from('me:secret').toString('base64');
  const { registry, client } = await start(t, { auth: { auth } });
  requireToken(registry, (authorization) => (authorization === basic ? 'good' : ''));
  registry.addManifest('1', manifest, mediaTypes.ociManifest);
  await client.resolve();
});

test("wrong credentials are refused with the token server's message", async (t) => {
  const { registry, client } = await start(t, { auth: { username: 'me', password: 'wrong' } });
  requireToken(registry, (authorization) => (authorization === basic ? 'good' : ''));
  await rejects(client.resolve(), 'unauthenticated', /get a token .* 401 \(incorrect username or password\)/);
});

test('if the registry rejects a token, the pull fails after a limited number of requests', async (t) => {
  const { registry, client } = await start(t);
  requireToken(registry, () => 'bad');
  await rejects(
    client.resolve(),
    'unauthenticated',
    /401 \(UNAUTHORIZED: log in\); it does not exist, or needs credentials/,
  );
  assert.ok(registry.requests.length < 15, `${registry.requests.length} requests`);
});

test('an expired token is fetched again', async (t) => {
  const { registry, client } = await start(t);
  registry.addManifest('1', manifest, mediaTypes.ociManifest);
  let tokens = 0;
  registry.faults.push(({ path, headers }, response) => {
    if (path === '/token') return Boolean(response.end(JSON.stringify({ access_token: `t${++tokens}` })));
    if (headers.authorization === `Bearer t${tokens}` && tokens !== 1) return false;
    const challenge = { 'www-authenticate': `Bearer realm="http://${registry.host}/token"` };
    return Boolean(response.writeHead(401, challenge).end());
  });
  await client.resolve();
  assert.equal(tokens, 2);
});

test('an identity token is exchanged by POST', async (t) => {
  const { registry, client } = await start(t, { auth: { identityToken: 'refresh-me' } });
  requireToken(registry, () => 'good');
  registry.addManifest('1', manifest, mediaTypes.ociManifest);
  await client.resolve();
  const exchange = registry.requests.find(({ path }) => path === '/token');
  assert.deepEqual([exchange?.method, exchange?.headers.authorization], ['POST', undefined]);
});

test('a registry token is sent unchanged', async (t) => {
  const { registry, client } = await start(t, { auth: { registryToken: 'good' } });
  requireToken(registry, () => '');
  registry.addManifest('1', manifest, mediaTypes.ociManifest);
  await client.resolve();
});

test('basic credentials are sent only after a challenge', async (t) => {
  const { registry, client } = await start(t, { auth: { username: 'me', password: 'secret' } });
  registry.addManifest('1', manifest, mediaTypes.ociManifest);
  registry.faults.push(({ headers }, response) => {
    if (headers.authorization === basic) return false;
    return Boolean(response.writeHead(401, { 'www-authenticate': 'Basic realm="faulty"' }).end());
  });
  await client.resolve();
  assert.equal(registry.requests[0]?.headers.authorization, undefined);
});

test('credentials are not sent along with a redirect to another host', async (t) => {
  const { registry, content, download } = await start(t, { auth: { username: 'me', password: 'secret' } });
  await using storage = await FaultyRegistry.start();
  const blob = storage.addBlob(randomBytes(50_000));
  registry.faults.push(({ path, headers }, response) => {
    if (headers.authorization !== basic) {
      return Boolean(response.writeHead(401, { 'www-authenticate': 'Basic realm="faulty"' }).end());
    }
    return Boolean(response.writeHead(307, { location: `http://${storage.host}${path}` }).end());
  });
  await download(blob);
  assert.ok(await content.has(blob));
  assert.equal(storage.requests[0]?.headers.authorization, undefined);
});

test('the error for a long rate limit says when to retry, and there are no retries', async (t) => {
  const { registry, client } = await start(t);
  registry.faults.push((_request, response) =>
    sendError(response, { status: 429, code: 'TOOMANYREQUESTS', message: 'limit', headers: { 'retry-after': '3600' } }),
  );
  await rejects(
    client.resolve(),
    'unavailable',
    /429 \(TOOMANYREQUESTS: limit\); too many requests: try again in 3600 s/,
  );
  assert.equal(registry.requests.length, 2, 'HEAD and GET, once');
});

test('a forbidden image and a missing one have different errors', async (t) => {
  const { registry, client } = await start(t, { auth: { username: 'me', password: 'secret' } });
  registry.faults.push((_request, response) => sendError(response, { status: 403, code: 'DENIED', message: 'no' }));
  await rejects(client.resolve(), 'permission_denied', /403 \(DENIED: no\); these credentials may not pull it/);
  registry.faults = [];
  await rejects(client.resolve(), 'not_found', /are name and tag right\?/);
});

test('a redirect loop ends with an error', async (t) => {
  const { registry, client } = await start(t);
  registry.faults.push(({ path }, response) => Boolean(response.writeHead(302, { location: path }).end()));
  await rejects(client.resolve(), 'unavailable', /more than 10 redirects/);
});

test('a mirror that is down or lacks the content is skipped, and one that has it gets the ns parameter', async (t) => {
  await using mirror = await FaultyRegistry.start();
  const plain = (host: string): RegistryHost => ({
    ...defaultHost(host),
    baseUrl: `http://${host}/v2`,
    namespace: 'the.registry',
    headers: { 'x-room': ['a', 'b'] },
  });
  const { registry, client, download } = await start(t, { hosts: [plain('127.0.0.1:1'), plain(mirror.host)] });
  registry.addManifest('1', manifest, mediaTypes.ociManifest);
  await client.resolve();
  assert.equal(mirror.requests[0]?.query.get('ns'), 'the.registry');
  assert.equal(mirror.requests[0]?.headers['x-room'], 'a, b');
  await download(mirror.addBlob(randomBytes(1000)));
  assert.equal(registry.requestsFor('blobs').length, 0);
  await rejects(
    download({ digest: `sha256:${'0'.repeat(64)}`, size: 1 }),
    'not_found',
    /\(before: connect to http:\/\/127\.0\.0\.1:1/,
  );
});

test('an abort ends a download at once with its reason', async (t) => {
  const { registry, download, abort, progress } = await start(t);
  const data = randomBytes(300_000);
  const blob = registry.addBlob(data);
  registry.faults.push((_request, response) => {
    response.writeHead(200, { 'content-length': data.length });
    response.write(data.subarray(0, 1000), () => abort.abort(new Error('the pod is gone')));
    return true;
  });
  await assert.rejects(download(blob), /the pod is gone/);
  assert.ok(progress.length <= 2);
});

test('a registry on another host is reached through the proxy from the environment', async (t) => {
  await using proxy = await FaultyRegistry.start();
  proxy.addManifest('1', manifest, mediaTypes.ociManifest);
  const far = { ...defaultHost('registry.example'), baseUrl: 'http://registry.example/v2' };
  const { client } = await start(t, { hosts: [far], environment: { HTTP_PROXY: `http://${proxy.host}` } });
  await client.resolve();
  assert.equal(proxy.requests[0]?.headers.host, 'registry.example');
});
