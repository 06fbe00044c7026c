/** `hosts.toml` and certificate directories, tested with Debian's docker-registry, TLS and client certificates. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Images } from '../../packages/images/src/images.ts';
import { makeBusyboxImage } from '../fixtures/busybox-image.ts';
import { DockerRegistry, makeCertificates, type RegistrySettings } from './docker-registry.ts';
import { cutBlob, FaultyRegistry } from './faulty-registry.ts';
import { openImageRoom, scratch } from './image-room.ts';
import { addImage, makeLayer } from './made-image.ts';
import { rejects } from './rejects.ts';

const { signal } = new AbortController();

/**
 * Opens an image service with its own root directory. `configure` replaces the configuration in `certs.d` with one for the registry
 * `domain`.
 */
async function start(t: TestContext) {
  const directory = await scratch(t);
  const room = await openImageRoom(join(directory, 'room'));
  t.after(() => room[Symbol.asyncDispose]());
  const certs = join(room.root, 'certs.d');
  const configure = (domain: string, files: Record<string, string>) => {
    rmSync(certs, { recursive: true, force: true });
    mkdirSync(join(certs, domain), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(certs, domain, name), text);
  };
  return { directory, images: room.images, configure };
}

/** Starts a TLS registry that requires client certificates, with an image `app:1`. */
async function startSecure(
  t: TestContext,
  directory: string,
): Promise<{ host: string; read: (name: string) => string }> {
  const settings: RegistrySettings = {
    tls: makeCertificates(directory, 'server'),
    clientCa: makeCertificates(directory, 'client').ca,
  };
  const registry = await DockerRegistry.start(directory, settings);
  t.after(() => registry[Symbol.asyncDispose]());
  const { layout } = await makeBusyboxImage(join(directory, 'layout'));
  mkdirSync(join(directory, 'skopeo'));
  copyFileSync(join(directory, 'client-cert.pem'), join(directory, 'skopeo/x.cert'));
  copyFileSync(join(directory, 'client-key.pem'), join(directory, 'skopeo/x.key'));
  const options = ['copy', '-q', '--dest-tls-verify=false', '--dest-cert-dir', join(directory, 'skopeo')];
  execFileSync('skopeo', [...options, `oci:${layout}:1`, `docker://${registry.host}/app:1`], { stdio: 'pipe' });
  return { host: registry.host, read: (name) => readFileSync(join(directory, name), 'utf8') };
}

async function pullAfresh(images: Images, name: string): Promise<void> {
  const { id } = await images.pull(name, { signal });
  await images.remove(id);
}

test('certificates can be configured in all forms supported by containerd', async (t) => {
  const { directory, images, configure } = await start(t);
  const { host, read } = await startSecure(t, directory);
  const [ca, cert, key] = [read('server-ca.pem'), read('client-cert.pem'), read('client-key.pem')];
  const both = cert + key;
  const forms: [string, Record<string, string>][] = [
    ['ca, and a pair', { 'hosts.toml': 'ca = "a"\nclient = [["c", "k"]]', a: ca, c: cert, k: key }],
    [
      'a list of CAs, and one file for both',
      { 'hosts.toml': 'ca = ["x", "a"]\nclient = "b"', x: cert, a: ca, b: both },
    ],
    ['a list of files', { 'hosts.toml': `ca = "${directory}/server-ca.pem"\nclient = ["b"]`, b: both }],
    ['pairs, one with an empty key', { 'hosts.toml': 'skip_verify = true\nclient = [["b", ""]]', b: both }],
    ['files by their names', { 'any.crt': ca, 'me.cert': cert, 'me.key': key }],
    ['a certificate file with its key in it', { 'any.crt': ca, 'me.cert': both }],
  ];
  for (const [form, files] of forms) {
    configure(host, files);
    await pullAfresh(images, `${host}/app:1`).catch((cause) => assert.fail(`${form}: ${cause}`));
  }
  configure(host, { 'hosts.toml': 'skip_verify = true' });
  await rejects(images.pull(`${host}/app:1`, { signal }), 'unavailable', /connect to https/);
  configure(host, { 'hosts.toml': 'client = "b"', b: 'no certificate' });
  await rejects(images.pull(`${host}/app:1`, { signal }), 'failed_precondition', /certificate/);
});

test('an http mirror with TLS settings is tried over TLS first, and _default applies to every registry', async (t) => {
  const { directory, images, configure } = await start(t);
  const { host, read } = await startSecure(t, directory);
  const both = read('client-cert.pem') + read('client-key.pem');
  const mirror = `[host."http://${host}"]\nskip_verify = true\nclient = "b"`;
  configure('_default', { 'hosts.toml': mirror, b: both });
  await pullAfresh(images, 'somewhere.invalid:5000/app:1');
  await pullAfresh(images, 'elsewhere.invalid/app:1');
});

test('a server with TLS settings that only speaks http is used over http', async (t) => {
  const { images, configure } = await start(t);
  await using registry = await FaultyRegistry.start();
  addImage(registry, { tag: '1', layers: [makeLayer({ a: 'a' })] });
  configure('some.invalid', { 'hosts.toml': `server = "http://${registry.host}"\nskip_verify = true` });
  await pullAfresh(images, 'some.invalid/app:1');
});

test('headers, override_path and capabilities are honored', async (t) => {
  const { images, configure } = await start(t);
  await using mirror = await FaultyRegistry.start();
  await using registry = await FaultyRegistry.start();
  for (const sink of [mirror, registry]) addImage(sink, { tag: '1', layers: [makeLayer({ a: 'a' })] });
  const text = `
server = "http://${registry.host}/api"
capabilities = ["resolve"]
[host."http://${mirror.host}/whole/path"]
  capabilities = ["pull"]
  override_path = true
  [host."http://${mirror.host}/whole/path".header]
    x-key = "secret"
    Authorization = ["Basic abc"]
`;
  configure('some.invalid', { 'hosts.toml': text });
  await images.pull('some.invalid/app:1', { signal });
  assert.deepEqual(
    registry.requests.map(({ method, path }) => `${method} ${path}`),
    ['HEAD /api/v2/app/manifests/1'],
  );
  for (const { path, headers, query } of mirror.requests) {
    assert.match(path, /^\/whole\/path\/app\/(blobs|manifests)\/sha256:/);
    assert.deepEqual(
      [headers['x-key'], headers.authorization, query.get('ns')],
      ['secret', 'Basic abc', 'some.invalid'],
    );
  }
  assert.equal(mirror.requests.length, 3);
});

test('a mirror that does not respond, fails, or serves wrong content is skipped', async (t) => {
  const { images, configure } = await start(t);
  await using mirror = await FaultyRegistry.start();
  await using registry = await FaultyRegistry.start();
  const layer = makeLayer({ a: 'a'.repeat(1000) });
  for (const sink of [mirror, registry]) addImage(sink, { tag: '1', layers: [layer] });
  const { digest } = mirror.addBlob(layer.data);
  mirror.blobs.set(digest, Buffer.alloc(layer.data.length));
  const hosts = ['http://127.0.0.1:1', `http://${mirror.host}`].map((url) => `[host."${url}"]`);
  configure('some.invalid', { 'hosts.toml': [`server = "http://${registry.host}"`, ...hosts].join('\n') });
  await pullAfresh(images, 'some.invalid/app:1');
  assert.equal(registry.requestsFor('blobs').length, 1, 'only the wrong blob is fetched from the registry');
  mirror.faults.push((_request, response) => Boolean(response.writeHead(500).end()));
  await pullAfresh(images, 'some.invalid/app:1');
});

test('short names refer to Docker Hub, and are pulled from its mirror', async (t) => {
  const { images, configure } = await start(t);
  await using mirror = await FaultyRegistry.start();
  addImage(mirror, { tag: 'latest', layers: [makeLayer({ a: 'a' })] });
  configure('docker.io', { 'hosts.toml': `[host."http://${mirror.host}"]\ncapabilities = ["pull", "resolve"]` });
  const { repoTags } = await images.pull('app', { signal });
  assert.deepEqual(repoTags, ['docker.io/library/app:latest']);
  const { path, query } = mirror.requests[0]!;
  assert.deepEqual([path, query.get('ns')], ['/v2/library/app/manifests/latest', 'docker.io']);
  for (const name of ['app', 'app:latest', 'library/app', 'docker.io/app', 'index.docker.io/library/app:latest'])
    assert.deepEqual(images.find(name)?.repoTags, repoTags, name);
});

test('a mirror without the resolve capability is used only for digests', async (t) => {
  const { images, configure } = await start(t);
  await using mirror = await FaultyRegistry.start();
  const { manifest } = addImage(mirror, { tag: '1', layers: [makeLayer({ a: 'a' })] });
  const text = `server = "http://127.0.0.1:1"\n[host."http://${mirror.host}"]\ncapabilities = ["pull"]`;
  configure('some.invalid', { 'hosts.toml': text });
  await rejects(images.pull('some.invalid/app:1', { signal }), 'unavailable', /connection refused/);
  assert.equal(mirror.requests.length, 0);
  const { repoDigests } = await images.pull(`some.invalid/app@${manifest.digest}`, { signal });
  assert.deepEqual(repoDigests, [`some.invalid/app@${manifest.digest}`]);
});

test('a busy mirror is retried if no other host has the image', async (t) => {
  const { images, configure } = await start(t);
  await using mirror = await FaultyRegistry.start();
  await using registry = await FaultyRegistry.start();
  addImage(mirror, { tag: '1', layers: [makeLayer({ a: 'a' })] });
  const busy = new Map<string, number>();
  mirror.faults.push(({ method, path }, response) => {
    const times = (busy.get(`${method} ${path}`) ?? 0) + 1;
    busy.set(`${method} ${path}`, times);
    return times === 1 && Boolean(response.writeHead(503).end());
  });
  configure('some.invalid', { 'hosts.toml': `server = "http://${registry.host}"\n[host."http://${mirror.host}"]` });
  await pullAfresh(images, 'some.invalid/app:1');
  assert.ok(registry.requests.length > 0, 'the registry itself has been tried');
});

test('a layer partially sent by a mirror is resumed from the next host, here with an IPv6 address', async (t) => {
  const { images, configure } = await start(t);
  await using mirror = await FaultyRegistry.start();
  await using registry = await FaultyRegistry.start('::1');
  const layer = makeLayer({ big: randomBytes(200_000).toString('hex') });
  for (const sink of [mirror, registry]) addImage(sink, { tag: '1', layers: [layer] });
  mirror.faults.push(cutBlob(layer.data, { bytes: 50_000, times: 100 }));
  configure(registry.host, { 'hosts.toml': `[host."http://${mirror.host}"]` });
  const { repoTags } = await images.pull(`${registry.host}/app:1`, { signal });
  assert.deepEqual(repoTags, [`${registry.host}/app:1`]);
  const { digest } = registry.addBlob(layer.data);
  const fromSecond = registry.requestsFor('blobs').filter(({ path }) => path.endsWith(digest));
  assert.deepEqual(
    fromSecond.map(({ headers }) => headers.range),
    ['bytes=50000-'],
  );
  assert.equal(images.find(`${registry.host}/app:1`)?.repoTags[0], repoTags[0]);
});

test('a host that does not accept connections is skipped after its dial timeout', async (t) => {
  const { images, configure } = await start(t);
  await using registry = await FaultyRegistry.start();
  addImage(registry, { tag: '1', layers: [makeLayer({ a: 'a' })] });
  await using deaf = await DeafServer.start();
  const text = `
server = "http://${registry.host}"
[host."http://127.0.0.1:${deaf.port}"]
  dial_timeout = "100ms"
`;
  configure('some.invalid', { 'hosts.toml': text });
  // without `dial_timeout`, the pull would take a minute
  await images.pull('some.invalid/app:1', { signal: AbortSignal.timeout(50_000) });
});

/** A stopped process with a full listen backlog: the kernel does not answer further connection attempts. */
class DeafServer implements AsyncDisposable {
  readonly port: number;
  readonly #process: ChildProcess;
  readonly #waiting: Socket[];

  private constructor(port: number, process: ChildProcess, waiting: Socket[]) {
    this.port = port;
    this.#process = process;
    this.#waiting = waiting;
  }

  static async start(): Promise<DeafServer> {
    const script =
      "const s = require('net').createServer(); s.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(s.address().port))";
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const port = Number(line);
    child.kill('SIGSTOP');
    const waiting = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    await Promise.race(waiting.map((socket) => once(socket, 'connect')));
    return new DeafServer(port, child, waiting);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#waiting) socket.destroy();
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }
}
