import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger, sleep, waitFor } from '@podwright/base';
import { ManifestDirectory } from './manifest-directory.ts';
import type { SourceSnapshot } from './pod-config.ts';
import { SavedManifests } from './saved-manifests.ts';

const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: a, image: b}]}\n';

/** A manifest source that records the names of the pods in each report. */
function sourceOf(context: TestContext, path: string, resyncMs = 60_000) {
  const reports: string[][] = [];
  const stop = new AbortController();
  context.after(() => stop.abort());
  const source = new ManifestDirectory({
    path,
    logger: silentLogger,
    resyncMs,
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

test('a directory that is unreadable at startup reports nothing until it is readable', async (context) => {
  const path = join(scratch(context), 'manifests');
  symlinkSync(path, path);
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

test('a missing directory is created empty', async (context) => {
  const { reports, ready } = sourceOf(context, join(scratch(context), 'a', 'manifests'));
  await ready;
  assert.deepEqual(reports, [[]]);
});

test('a stop aborts the wait for an unreadable directory', async (context) => {
  const path = join(scratch(context), 'manifests');
  symlinkSync(path, path);
  const { ready, stop } = sourceOf(context, path);
  stop.abort(new Error('enough'));
  await assert.rejects(ready, { message: 'enough' });
});

const named = (name: string) => pod.replace('web', name);

/** Writes a file as editors and configuration management do: to a temporary file that is renamed over the old one. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

test('a single manifest file is followed through changes, replacements and its removal', async (context) => {
  const directory = scratch(context);
  const path = join(directory, 'pods');
  writeFileSync(path, named('one'));
  writeFileSync(join(directory, 'other.yaml'), named('other'));
  const { reports, ready } = sourceOf(context, path);
  await ready;
  assert.deepEqual(reports, [['one']]);
  const shows = (...names: string[]) =>
    waitFor(() => reports.at(-1)?.join() === names.join() || undefined, {
      intervalMs: 2,
      signal: AbortSignal.timeout(30_000),
    });
  replace(path, `${named('two')}---\n${named('three')}`);
  await shows('two', 'three');
  writeFileSync(path, named('written'));
  await shows('written');
  rmSync(path);
  await shows();
  replace(path, named('back'));
  await shows('back');
});

test('a missing path named like a file is not created as a directory', async (context) => {
  const directory = scratch(context);
  const { reports, ready } = sourceOf(context, join(directory, 'pods.yaml'));
  await ready;
  assert.deepEqual([reports, readdirSync(directory)], [[[]], []]);
  replace(join(directory, 'pods.yaml'), pod);
  const signal = AbortSignal.timeout(30_000);
  await waitFor(() => reports.at(-1)?.[0] === 'web' || undefined, { intervalMs: 2, signal });
});

test('when a directory is replaced by a file, or back, only the pods of the current one are reported', async (context) => {
  const directory = scratch(context);
  const path = join(directory, 'manifests');
  mkdirSync(path);
  for (const name of ['a.yaml', 'b.yaml']) {
    writeFileSync(join(path, name), named(`in-${name[0]}`));
    writeFileSync(join(directory, name), named(`sibling-${name[0]}`));
  }
  const { reports, ready } = sourceOf(context, path, 20);
  await ready;
  const shows = (names: string) =>
    waitFor(() => reports.at(-1)?.join() === names || undefined, {
      intervalMs: 2,
      signal: AbortSignal.timeout(30_000),
    });
  await shows('in-a,in-b');
  renameSync(path, join(directory, 'away'));
  writeFileSync(path, named('file'));
  await shows('file');
  rmSync(path);
  renameSync(join(directory, 'away'), path);
  await shows('in-a,in-b');
  assert.ok(reports.every((names) => names.every((name) => !name.startsWith('sibling'))));
});

for (const pauseMs of [20, 200]) {
  test(`a file that is rewritten in place with pauses of ${pauseMs} ms keeps its pods, and gets new ones at once`, async (context) => {
    const path = scratch(context);
    const file = join(path, 'a.yaml');
    const parts = [`${named('one')}---\n`, named('two').replace('image: b', 'image: b2'), '---\n', named('three')];
    writeFileSync(file, parts.slice(0, 2).join(''));
    const { reports, ready } = sourceOf(context, path);
    await ready;
    const shows = (names: string) =>
      waitFor(() => reports.at(-1)?.join() === names || undefined, {
        intervalMs: 2,
        signal: AbortSignal.timeout(30_000),
      });
    writeFileSync(file, ''); // as a shell does before the first write
    for (const part of parts) {
      await sleep(pauseMs);
      appendFileSync(file, part);
    }
    const writtenAtMs = performance.now();
    await shows('one,two,three');
    assert.ok(performance.now() - writtenAtMs < 400, 'unchanged pods do not delay new ones');
    assert.ok(reports.every((names) => names.join().startsWith('one,two')));
    writeFileSync(file, named('three'));
    await shows('three');
    replace(file, named('four'));
    await shows('four');
  });
}

test('a file that is replaced by a rename takes effect at once', async (context) => {
  const path = scratch(context);
  const file = join(path, 'a.yaml');
  writeFileSync(file, named('one'));
  const { reports, ready } = sourceOf(context, path);
  await ready;
  await sleep(10);
  const startedAtMs = performance.now();
  for (const name of ['two', 'three', 'four']) {
    replace(file, named(name));
    await waitFor(() => reports.at(-1)?.join() === name || undefined, {
      intervalMs: 2,
      signal: AbortSignal.timeout(30_000),
    });
  }
  assert.ok(performance.now() - startedAtMs < 450);
});

/** Returns the text of a file, or '' if it does not exist: the source under test may remove the file at any moment. */
function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Starts a manifest source with the content saved by an earlier kubelet, which may have been killed. */
async function start(context: TestContext, path: string, savedDirectory: string) {
  const snapshots: SourceSnapshot[] = [];
  const stop = new AbortController();
  context.after(() => stop.abort());
  const source = new ManifestDirectory({
    path,
    logger: silentLogger,
    resyncMs: 60_000,
    retryMs: 5,
    saved: new SavedManifests(savedDirectory, silentLogger),
    onChange: (snapshot) => void snapshots.push(snapshot),
  });
  await source.start(stop.signal);
  const names = () => snapshots.at(-1)!.objects.map(({ object }) => object.metadata.name);
  const isSaved = (name: string) => {
    const files = readdirSync(savedDirectory).filter((file) => file.endsWith('.json')); // no temporary files
    return files.some((file) => textIn(join(savedDirectory, file)).includes(`"name":"${name}"`));
  };
  const until = (holds: () => boolean) =>
    waitFor(() => holds() || undefined, { intervalMs: 2, signal: AbortSignal.timeout(30_000) });
  return {
    stop: () => stop.abort(),
    names,
    latest: () => snapshots.at(-1)!,
    first: () => snapshots[0]!,
    isSaved,
    until,
  };
}

const INVALID: Record<string, (path: string) => void> = {
  'with a mistake': (path) => writeFileSync(path, named('one').replace('image', 'imag')),
  'that is too large': (path) => writeFileSync(path, `${named('one')}#${' '.repeat(5 << 20)}`),
  'that cannot be opened': (path) => {
    rmSync(path);
    symlinkSync(path, path);
  },
};
for (const [what, spoil] of Object.entries(INVALID)) {
  test(`after a restart, a file ${what} has the pods of its last valid content until it is removed`, async (context) => {
    const [path, saved] = [scratch(context), join(scratch(context), 'saved')];
    const file = join(path, 'a.yaml');
    writeFileSync(file, named('one'));
    const before = await start(context, path, saved);
    replace(file, `${named('two')}---\n${named('three')}`);
    await before.until(() => before.isSaved('three'));
    before.stop();
    spoil(file);
    const { names, latest, first, isSaved, until } = await start(context, path, saved);
    assert.deepEqual(names(), ['two', 'three']);
    await until(() => latest().errors.length > 0);
    assert.deepEqual(names(), ['two', 'three']);
    assert.equal(
      String(latest().errors.at(-1)),
      `${file}:1:1: pods default/two, default/three stay unchanged until the file is valid, and end if the file is removed`,
    );
    assert.equal(first().objects.length, 2);
    rmSync(file);
    await until(() => names().length === 0 && !isSaved('two'));
  });
}

test('the content of a file removed while the node was down does not come back', async (context) => {
  const [path, saved] = [scratch(context), join(scratch(context), 'saved')];
  const file = join(path, 'a.yaml');
  writeFileSync(file, named('one'));
  const before = await start(context, path, saved);
  await before.until(() => before.isSaved('one'));
  before.stop();
  assert.deepEqual(
    [saved, join(saved, readdirSync(saved)[0]!)].map((one) => statSync(one).mode & 0o777),
    [0o700, 0o600],
  );
  rmSync(file);
  const { names, isSaved, stop, until } = await start(context, path, saved);
  await until(() => !isSaved('one'));
  stop();
  writeFileSync(file, 'kind: Pod');
  assert.deepEqual([names(), (await start(context, path, saved)).names()], [[], []]);
});

test('saved content that is corrupt, incomplete or from a different file is ignored and removed', async (context) => {
  const [path, saved] = [scratch(context), join(scratch(context), 'saved')];
  const file = join(path, 'a.yaml');
  writeFileSync(file, named('one'));
  const before = await start(context, path, saved);
  await before.until(() => before.isSaved('one'));
  before.stop();
  const [name] = readdirSync(saved);
  const text = readFileSync(join(saved, name!), 'utf8');
  writeFileSync(join(saved, `${name}.0123456789ab.tmp`), text.slice(0, 20));
  writeFileSync(join(saved, 'other.json'), text);
  writeFileSync(join(saved, name!), text.replace('"containers":[', '"containers":"').slice(0, -1));
  writeFileSync(file, 'kind: Pod');
  const { names, latest, until } = await start(context, path, saved);
  await until(() => latest().errors.length > 0);
  assert.deepEqual([names(), readdirSync(saved)], [[], []]);
});
