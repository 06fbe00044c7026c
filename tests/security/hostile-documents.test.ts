/**
 * Manifests, configs, tokens and archives that would take far more memory and time than their size suggests: rejected before they are
 * parsed.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { raceAbort } from '@podwright/base';
import { sha256Digest } from '../../packages/images/src/content/digest.ts';
import { HttpClient } from '../../packages/images/src/registry/http-client.ts';
import { defaultHost } from '../../packages/images/src/registry/registry-host.ts';
import { mediaTypes } from '../../packages/images/src/spec/media-types.ts';
import { type FixtureEntry, tarArchive } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { FaultyRegistry } from '../images/faulty-registry.ts';
import { openRoomWithRegistry } from '../images/image-room.ts';
import { LayoutDirectory } from '../images/layout-directory.ts';
import { addImage, hostArchitecture, makeLayer } from '../images/made-image.ts';
import { rejects } from '../images/rejects.ts';
import { file } from '../unpack/layer.fixture.ts';

const signal = AbortSignal.timeout(120_000);
const layer = makeLayer({ a: 'a' });

async function start(t: TestContext) {
  const { registry, room } = await openRoomWithRegistry(t);
  return { registry, room, pull: () => room.images.pull(`${registry.host}/room/app:1`, { signal }) };
}

/**
 * Asserts that the work does not block the event loop, which all pods depend on. Without size limits, such documents blocked it for ten
 * seconds.
 */
async function withoutStall(work: () => Promise<unknown>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  await work();
  delay.disable();
  assert.ok(delay.max < 3e9, `the event loop was blocked for ${delay.max / 1e6} ms`);
}

test('a manifest or index with a million entries', async (t) => {
  const { registry, pull } = await start(t);
  for (const text of [
    `{"manifests":[${'{},'.repeat(1_300_000)}{}]}`,
    `{"layers":[${'1,'.repeat(2_000_000)}1]}`,
    `{"manifests":[${'{},'.repeat(20_000)}{}]}`,
  ]) {
    registry.manifests.set('1', { data: Buffer.from(text), mediaType: mediaTypes.ociIndex });
    registry.faults = [({ method }, response) => method === 'HEAD' && Boolean(response.writeHead(405).end())];
    await withoutStall(() => rejects(pull(), 'invalid_argument', /more than 300000 JSON values|manifests: .*10000/));
  }
});

/** Makes the registry serve an image with this `config` object in its image config. */
function serveConfig(registry: FaultyRegistry, config: string): void {
  const rootfs = `{"type":"layers","diff_ids":["${layer.diffId}"]}`;
  const text = `{"architecture":"${hostArchitecture}","os":"linux","config":${config},"rootfs":${rootfs}}`;
  const blob = registry.addBlob(Buffer.from(text));
  const manifest = {
    schemaVersion: 2,
    config: { mediaType: mediaTypes.ociConfig, ...blob },
    layers: [{ mediaType: layer.mediaType, ...registry.addBlob(layer.data) }],
  };
  registry.addManifest('1', manifest, mediaTypes.ociManifest);
}

const names = (count: number, value: string) =>
  `{${Array.from({ length: count }, (_, index) => `"/${index}":${value}`).join(',')}}`;

test('a config with a million variables or labels, or with megabytes of data kept in memory', async (t) => {
  const { registry, pull, room } = await start(t);
  const wrong: [string, RegExp][] = [
    [`{"Env":[${'1,'.repeat(3_900_000)}1]}`, /more than 300000 JSON values/],
    [`{"Env":[${'1,'.repeat(200_000)}1]}`, /config\.Env: is not a list of at most 10000 strings/],
    [`{"Env":[${'"",'.repeat(10_000)}""]}`, /config\.Env: is not a list of at most 10000 strings/],
    [`{"Labels":${names(10_001, '""')}}`, /config\.Labels: is not a map of at most 10000 strings/],
    [`{"Labels":{"a":"${'x'.repeat(2 << 20)}"}}`, /volumes and labels take \d+ bytes, more than 1048576/],
  ];
  for (const [config, message] of wrong) {
    serveConfig(registry, config);
    await withoutStall(() => rejects(pull(), 'invalid_argument', message));
  }
  assert.deepEqual(room.images.list(), []);
});

test('an image with 50,000 volumes, each a directory and a mount in every container', async (t) => {
  const { registry, pull, room } = await start(t);
  serveConfig(registry, `{"Volumes":${names(50_000, '{}')}}`);
  await withoutStall(() => rejects(pull(), 'invalid_argument', /config\.Volumes: is not a map of at most 1000 names/));
  assert.deepEqual(room.images.list(), []);
});

test('an image that exposes every port is pulled, and the ports are not stored', async (t) => {
  const { registry, pull } = await start(t);
  serveConfig(registry, `{"ExposedPorts":${names(131_070, '{}')}}`);
  assert.deepEqual(Object.keys(Object((await pull()).config.config)), []);
});

test('a token with a hundred thousand values, and an oversized one', async (t) => {
  const { registry, pull } = await start(t);
  const answers: [string, RegExp][] = [
    [`{"token":[${'[],'.repeat(80_000)}[]]}`, /get a token .*: token: /],
    [`{"token":"${'x'.repeat(1 << 20)}"}`, /get a token .*: more than 262144 bytes/],
  ];
  for (const [answer, message] of answers) {
    registry.faults = [
      ({ path }, response) => {
        if (path === '/token') return Boolean(response.end(answer));
        const header = { 'www-authenticate': `Bearer realm="http://${registry.host}/token"` };
        return Boolean(response.writeHead(401, header).end());
      },
    ];
    await withoutStall(() => rejects(pull(), ['invalid_argument', 'resource_exhausted'], message));
  }
});

test('endless headers, and an error message of megabytes', async (t) => {
  const { registry, pull } = await start(t);
  registry.faults = [(_request, response) => Boolean(response.writeHead(200, { x: 'y'.repeat(1 << 20) }).end())];
  await rejects(pull(), 'unavailable', /connect to|Overflow/);
  registry.faults = [(_request, response) => Boolean(response.writeHead(404).end('"x'.repeat(1 << 22)))];
  await rejects(pull(), 'not_found', /answered 404; are name and tag right/);
});

test('the text of a server error is short, and does not contain signatures from redirects', async (t) => {
  const { registry, pull } = await start(t);
  const target = `http://127.0.0.1:1/${'p'.repeat(5000)}?signature=secret`;
  registry.faults = [(_request, response) => Boolean(response.writeHead(307, { location: target }).end())];
  await assert.rejects(pull(), ({ message }: Error) => message.length < 1000 && !message.includes('secret'));
  registry.faults = [
    ({ path }, response) => Boolean(response.writeHead(307, { location: `${path}?signature=secret` }).end()),
  ];
  await assert.rejects(pull(), ({ message }: Error) => /redirects/.test(message) && !message.includes('secret'));
  const { manifest } = addImage(registry, { tag: '1', layers: [layer] });
  const platform = { os: 'o'.repeat(2 << 20), architecture: 'x' };
  registry.addManifest('1', { schemaVersion: 2, manifests: [{ ...manifest, platform }] }, mediaTypes.ociIndex);
  registry.faults = [];
  await assert.rejects(pull(), ({ message }: Error) => /no image for/.test(message) && message.length < 1000);
});

test('connections to redirect targets are closed after a while', async (t) => {
  const registry = await FaultyRegistry.start();
  const http = new HttpClient({ stallTimeoutMs: 5000, documentTimeoutMs: 5000, idleTimeoutMs: 100, environment: {} });
  t.after(async () => {
    http.close();
    await registry[Symbol.asyncDispose]();
  });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  registry.faults = [
    (_request, response) => {
      const socket = response.socket as Socket & { server: Server };
      socket.server.keepAliveTimeout = 0; // this server never closes it
      socket.once('close', () => resolve());
      return Boolean(response.writeHead(200, { 'content-length': 0, 'keep-alive': 'timeout=3600' }).end());
    },
  ];
  const { tls } = defaultHost(registry.host);
  const response = await http.send({ method: 'GET', url: `http://${registry.host}/`, headers: {}, tls, signal });
  response.discard();
  await raceAbort(closed, AbortSignal.timeout(10_000));
});

/** Writes an archive with these entries; returns a function that loads it. */
async function loads(t: TestContext, entries: FixtureEntry[]) {
  const { room } = await start(t);
  const path = join(room.root, 'archive.tar');
  writeFileSync(path, gzipSync(tarArchive(entries)));
  return () => room.images.load(path, { signal });
}

test('an archive with gigabytes of names', async (t) => {
  const entry = (index: number): FixtureEntry => ({
    name: 'x',
    flag: '2',
    pax: { path: `${index}${'n'.repeat(900_000)}`, linkpath: 'x' },
  });
  const load = await loads(
    t,
    Array.from({ length: 40 }, (_, index) => entry(index)),
  );
  await withoutStall(() => rejects(load(), 'invalid_argument', /its names take more than 16777216 bytes/));
});

test('an archive of an image with a hundred thousand layers, or names', async (t) => {
  const many = Array.from({ length: 100_000 }, () => 'x');
  for (const image of [
    { Config: 'c', Layers: many },
    { Config: 'c', RepoTags: many },
  ]) {
    const load = await loads(t, [file('manifest.json', JSON.stringify([image])), file('c', '{}'), file('x', 'x')]);
    await withoutStall(() =>
      rejects(load(), 'invalid_argument', /manifest\.json: 0\.(Layers|RepoTags): is not a list/),
    );
  }
  const manifests = Array.from({ length: 1001 }, (_, index) => ({
    mediaType: mediaTypes.ociManifest,
    digest: `sha256:${'0'.repeat(64)}`,
    size: 2,
    annotations: { 'org.opencontainers.image.ref.name': `x.example/a:${index}` },
  }));
  const load = await loads(t, [file('index.json', JSON.stringify({ schemaVersion: 2, manifests }))]);
  await rejects(load(), 'invalid_argument', /it has 1001 images, more than 1000/);
});

test('a directory whose files are devices or links to devices', async (t) => {
  const { room } = await start(t);
  const directory = join(room.root, 'layout');
  mkdirSync(directory);
  execFileSync('mkfifo', [join(directory, 'index.json')]);
  await rejects(room.images.load(directory, { signal }), 'invalid_argument', /index\.json is not a regular file/);
});

test('a directory of links to files that its owner cannot read, whose content must not appear in the error', async (t) => {
  const { room } = await start(t);
  const secret = join(room.root, 'secret');
  writeFileSync(secret, 'hunter2 is the password');
  const directory = new LayoutDirectory(join(room.root, 'layout'));
  const { path } = directory;
  const refused = (message: RegExp) => rejects(room.images.load(path, { signal }), 'invalid_argument', message);
  symlinkSync(secret, join(path, 'index.json'));
  await refused(/index\.json is a symbolic link/);
  rmSync(join(path, 'index.json'));
  const digest = sha256Digest('x');
  directory.writeIndex([{ mediaType: mediaTypes.ociManifest, digest, size: 1 }]);
  symlinkSync(secret, join(path, 'blobs', digest.replace(':', '/')));
  await refused(/is a symbolic link/);
});

test('a redirect to a document that is not JSON, whose content must not be in the error', async (t) => {
  const { registry, pull } = await start(t);
  registry.faults = [
    ({ path }, response) => path.endsWith('/inner') && Boolean(response.end('hunter2 is the password')),
    ({ path }, response) => path === '/token' && Boolean(response.writeHead(307, { location: '/inner' }).end()),
    ({ headers }, response) =>
      headers.authorization === undefined &&
      Boolean(response.writeHead(401, { 'www-authenticate': `Bearer realm="http://${registry.host}/token"` }).end()),
  ];
  const quotesNothing = ({ message }: Error) => /not JSON/.test(message) && !message.includes('hunter');
  await assert.rejects(pull(), quotesNothing);
});
