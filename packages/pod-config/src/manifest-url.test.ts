import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import { ManifestUrl } from './manifest-url.ts';
import type { SourceSnapshot } from './pod-config.ts';
import { SavedManifests } from './saved-manifests.ts';

const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: a, image: b}]}\n';

test('after a restart, a URL that does not respond keeps the pods from its last valid content', async (context) => {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-url-'));
  context.after(() => rmSync(directory, { recursive: true }));
  let answer = { status: 200, body: pod };
  const server = createServer((_, response) => response.writeHead(answer.status).end(answer.body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const start = async (path: string) => {
    const [snapshots, stop] = [[] as SourceSnapshot[], new AbortController()];
    context.after(() => stop.abort());
    const saved = new SavedManifests(directory, silentLogger);
    const onChange = (snapshot: SourceSnapshot) => void snapshots.push(snapshot);
    const url = `http://127.0.0.1:${port}${path}`;
    await new ManifestUrl({ url, headers: {}, logger: silentLogger, periodMs: 5, saved, onChange }).start(stop.signal);
    const latest = () => [
      snapshots.at(-1)?.objects.map(({ object }) => object.metadata.name),
      snapshots.at(-1)?.errors.length,
    ];
    return { latest, stop: () => stop.abort() };
  };
  const first = await start('/a');
  assert.deepEqual(first.latest(), [['web'], 0]);
  first.stop();
  answer = { status: 500, body: '' };
  const second = await start('/a');
  assert.deepEqual(second.latest(), [['web'], 1]);
  answer = { status: 200, body: pod.replace('web', 'changed') };
  await waitFor(() => second.latest()[1] === 0 || undefined, { intervalMs: 2, signal: AbortSignal.timeout(30_000) });
  assert.deepEqual(second.latest(), [['changed'], 0]);
  const saved = () => readdirSync(directory).filter((name) => name.endsWith('.json'));
  const isSaved = () => saved().some((name) => readFileSync(join(directory, name), 'utf8').includes('changed'));
  await waitFor(() => isSaved() || undefined, { intervalMs: 2, signal: AbortSignal.timeout(30_000) });
  second.stop();
  answer = { status: 500, body: '' };
  const other = await start('/b');
  assert.deepEqual([other.latest(), readdirSync(directory)], [[undefined, undefined], []]);
});
