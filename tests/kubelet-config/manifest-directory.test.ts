import assert from 'node:assert/strict';
import { mkdir, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { ManifestDirectory } from '../../packages/pod-config/src/manifest-directory.ts';
import { ManifestUrl } from '../../packages/pod-config/src/manifest-url.ts';
import type { SourceSnapshot } from '../../packages/pod-config/src/pod-config.ts';

const podText = (name: string) => `apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  containers:
  - {name: a, image: b}
`;

/** Records the snapshots that the manifest source under test reports; `until` waits for one that meets a condition. */
function recorder(context: TestContext) {
  const snapshots: SourceSnapshot[] = [];
  const controller = new AbortController();
  context.after(() => controller.abort());
  const latest = () => ({
    names: snapshots.at(-1)?.objects.map(({ object }) => object.metadata.name) ?? [],
    errors: snapshots.at(-1)?.errors.map(String) ?? [],
  });
  const until = (holds: (state: ReturnType<typeof latest>) => boolean) =>
    waitFor(() => (holds(latest()) ? latest() : undefined), { intervalMs: 2, signal: AbortSignal.timeout(30_000) });
  return {
    snapshots,
    latest,
    until,
    signal: controller.signal,
    onChange: (snapshot: SourceSnapshot) => snapshots.push(snapshot),
  };
}

async function follow(context: TestContext, files: Record<string, string> = {}, resyncMs = 60_000) {
  const path = await mkdtemp(join(tmpdir(), 'podwright-manifests-'));
  context.after(() => rm(path, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  const record = recorder(context);
  const source = new ManifestDirectory({
    path,
    logger: silentLogger,
    resyncMs,
    retryMs: 20,
    onChange: record.onChange,
  });
  await source.start(record.signal);
  return { path, source, ...record };
}

test('the first report has all existing files, even one that was just written', async (context) => {
  const { latest } = await follow(context, {
    'a.yaml': podText('a'),
    '.b.yaml': podText('b'),
    'c.yaml~': podText('c'),
    'd.json': '{',
  });
  assert.deepEqual(latest().names, ['a']);
  assert.match(latest().errors.join(), /d\.json:1:\d+: /);
});

test('added, changed and removed files are reported at once', async (context) => {
  const { path, until } = await follow(context);
  await writeFile(join(path, 'a.yaml'), podText('a'));
  await until(({ names }) => names.join() === 'a');
  await writeFile(join(path, 'a.yaml'), podText('changed'));
  await until(({ names }) => names.join() === 'changed');
  await writeFile(join(path, '.new'), podText('moved'));
  await rename(join(path, '.new'), join(path, 'b.yaml'));
  await until(({ names }) => names.join() === 'changed,moved');
  await rm(join(path, 'a.yaml'));
  await until(({ names }) => names.join() === 'moved');
});

test('a slowly written file is read once it is complete', async (context) => {
  const { path, until, snapshots } = await follow(context);
  const text = podText('slow');
  const file = await open(join(path, 'a.yaml'), 'w');
  for (const part of text.match(/[\s\S]{1,8}/g) ?? []) await file.write(part);
  await file.close();
  await until(({ names }) => names.join() === 'slow');
  assert.deepEqual(
    snapshots.flatMap(({ errors }) => errors),
    [],
  );
});

test('an error in a changed file is reported, and its last valid content remains in effect', async (context) => {
  const { path, until } = await follow(context, { 'a.yaml': podText('a') });
  await writeFile(join(path, 'a.yaml'), podText('a').replace('image', 'imag'));
  const { names, errors } = await until((state) => state.errors.length > 0);
  assert.deepEqual(names, ['a']);
  assert.match(errors[0] ?? '', /a\.yaml:6:15: spec\.containers\[0\]\.imag: unknown field; did you mean "image"\?$/);
  await writeFile(join(path, 'a.yaml'), podText('b'));
  await until((state) => state.errors.length === 0 && state.names.join() === 'b');
});

test('files that are not regular are skipped without blocking', async (context) => {
  const { path, until, latest } = await follow(context);
  await mkdir(join(path, 'sub'));
  await runChecked('mkfifo', [join(path, 'fifo')]);
  await writeFile(join(path, 'z.yaml'), podText('z'));
  await until(({ names }) => names.join() === 'z');
  assert.deepEqual(latest().errors, []);
});

test('a directory that is removed and re-created is watched again', async (context) => {
  const { path, until } = await follow(context, { 'a.yaml': podText('a') });
  await rm(path, { recursive: true });
  await until(({ names, errors }) => names.length === 0 && errors.length > 0);
  await mkdir(path);
  await writeFile(join(path, 'b.yaml'), podText('b'));
  await until(({ names, errors }) => names.join() === 'b' && errors.length === 0);
  await writeFile(join(path, 'c.yaml'), podText('c'));
  await until(({ names }) => names.join() === 'b,c');
});

test('a directory that replaces the watched one is watched at once, and pods of both keep running', async (context) => {
  const { path, until, snapshots } = await follow(context, { 'a.yaml': podText('a') });
  context.after(() => rm(`${path}.old`, { recursive: true, force: true }));
  await mkdir(`${path}.new`);
  for (const name of ['a', 'b']) await writeFile(join(`${path}.new`, `${name}.yaml`), podText(name));
  await rename(path, `${path}.old`);
  await rename(`${path}.new`, path);
  await until(({ names, errors }) => names.join() === 'a,b' && errors.length === 0);
  await writeFile(join(path, 'c.yaml'), podText('c'));
  await until(({ names }) => names.join() === 'a,b,c');
  assert.ok(snapshots.every(({ objects }) => objects[0]!.object.metadata.name === 'a'));
});

test('moving the directory away or replacing it with a file removes no pods, even while one of its files is being read', async (context) => {
  const { path, until, latest } = await follow(context, { 'a.yaml': podText('a') });
  context.after(() => rm(`${path}.old`, { recursive: true, force: true }));
  await writeFile(join(path, 'a.yaml'), `${podText('a')}# touched`);
  await rename(path, `${path}.old`);
  await until(({ errors }) => /no such file or directory/.test(errors.join()));
  await writeFile(path, 'no manifest');
  await until(({ errors }) => errors.length > 0 && !/no such file or directory/.test(errors.join()));
  assert.deepEqual(latest().names, ['a']);
  await rm(path);
  await rename(`${path}.old`, path);
  await until(({ names, errors }) => names.join() === 'a' && errors.length === 0);
});

test('a manifest URL is polled, and its last valid content remains in effect', async (context) => {
  let answer: { status: number; body: string } = { status: 200, body: podText('a') };
  const headers: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    headers.push(request.headers['x-token'] as string | undefined);
    response.writeHead(answer.status).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pods`;
  const { onChange, signal, until, latest, snapshots } = recorder(context);
  await new ManifestUrl({ url, headers: { 'x-token': ['t'] }, logger: silentLogger, periodMs: 10, onChange }).start(
    signal,
  );
  assert.deepEqual(latest().names, ['a']);
  answer = { status: 500, body: '' };
  const failed = await until(({ errors }) => errors.length > 0);
  assert.deepEqual(failed, { names: ['a'], errors: [`${url}:1:1: get the manifest: GET ${url}: status 500`] });
  answer = { status: 200, body: `${' '.repeat(5 << 20)}` };
  await until(({ errors }) => errors.some((error) => error.includes('larger than 4 MiB')));
  answer = { status: 200, body: podText('b') };
  await until(({ names, errors }) => names.join() === 'b' && errors.length === 0);
  assert.equal(headers[0], 't');
  assert.ok(snapshots.length <= 6, 'unchanged answers are not reported again');
});

test('a manifest URL reports nothing before the first response, and its headers are not sent to other hosts', async (context) => {
  const asked: string[] = [];
  let answer: (response: ServerResponse) => void = (response) => response.writeHead(503).end();
  const server = createServer((request, response) => {
    asked.push(request.url!);
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pods`;
  const { onChange, signal, until, snapshots } = recorder(context);
  const source = new ManifestUrl({ url, headers: { 'x-token': ['t'] }, logger: silentLogger, periodMs: 5, onChange });
  await source.start(signal);
  answer = (response) => response.writeHead(200).end('kind: Pod');
  await waitFor(() => asked.length > 2 || undefined, { intervalMs: 1, signal });
  answer = (response) => response.writeHead(302, { location: '/elsewhere' }).end(podText('thief'));
  const redirected = asked.length + 1;
  await waitFor(() => asked.length > redirected || undefined, { intervalMs: 1, signal });
  assert.deepEqual(snapshots, []);
  answer = (response) => response.writeHead(200).end(podText('a'));
  await until(({ names, errors }) => names.join() === 'a' && errors.length === 0);
  assert.equal(asked.includes('/elsewhere'), false);
});
