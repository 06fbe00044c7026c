import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger, sleep, waitFor } from '@podwright/base';
import { ManifestDirectory } from './manifest-directory.ts';

const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: a, image: b}]}\n';

/** A source that writes down the names of the pods that it reports. */
function sourceOf(context: TestContext, path: string) {
  const reports: string[][] = [];
  const stop = new AbortController();
  context.after(() => stop.abort());
  const source = new ManifestDirectory({
    path,
    logger: silentLogger,
    resyncMs: 60_000,
    retryMs: 5,
    onChange: ({ objects }) => void reports.push(objects.map(({ object }) => object.metadata.name)),
  });
  return { reports, ready: source.start(stop.signal), stop };
}

function scratch(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'pwk-manifests-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test('a directory that cannot be read at the start has said nothing until it can', async (context) => {
  const path = join(scratch(context), 'manifests');
  writeFileSync(path, 'no directory');
  const { reports, ready } = sourceOf(context, path);
  let isReady = false;
  void ready.then(() => {
    isReady = true;
  });
  await sleep(30);
  assert.deepEqual([isReady, reports], [false, []]);
  rmSync(path);
  mkdirSync(path);
  writeFileSync(join(path, 'web.yaml'), pod);
  await ready;
  const signal = AbortSignal.timeout(3000);
  await waitFor(() => reports.at(-1)?.[0] === 'web' || undefined, { intervalMs: 2, signal });
});

test('a directory that is not there is made, and holds nothing', async (context) => {
  const { reports, ready } = sourceOf(context, join(scratch(context), 'a', 'manifests'));
  await ready;
  assert.deepEqual(reports, [[]]);
});

test('a directory that was never read can be given up', async (context) => {
  const path = join(scratch(context), 'manifests');
  writeFileSync(path, 'no directory');
  const { ready, stop } = sourceOf(context, path);
  stop.abort(new Error('enough'));
  await assert.rejects(ready, { message: 'enough' });
});
