import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import { ContentStore } from './content-store.ts';
import { sha256Digest } from './digest.ts';

async function scratch(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'content-store-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  return root;
}

const data = Buffer.alloc(3_000_000, 'podwright ');
const blob = { digest: sha256Digest(data), size: data.length };

test('a blob is stored under its digest once complete', async (t) => {
  const store = await ContentStore.open(await scratch(t));
  await store.ingest(blob, async (writer) => {
    for (let at = 0; at < data.length; at += 700_000) await writer.write(data.subarray(at, at + 700_000));
    assert.equal(await store.sizeOf(blob.digest), undefined);
  });
  assert.ok(await store.has(blob));
  assert.deepEqual(await store.list(), [blob]);
  assert.deepEqual(await readFile(store.path(blob.digest)), data);
  await store.ingest(blob, () => assert.fail('the blob exists already'));
});

test('readers of an arriving blob get a small first batch early, then larger ones', async (t) => {
  const store = await ContentStore.open(await scratch(t));
  const seen: number[] = [];
  await store.ingest(blob, async (writer) => {
    writer.arriving.onGrowth((bytes) => seen.push(bytes));
    for (let at = 0; at < data.length; at += 50_000) await writer.write(data.subarray(at, at + 50_000));
  });
  const part = 128 << 10;
  assert.deepEqual(seen, [0, part, 3 * part, 7 * part, 15 * part, data.length]);
});

test('an interrupted blob is resumed, even after a restart', async (t) => {
  const root = await scratch(t);
  const cut = new PodwrightError('unavailable', 'cut');
  const first = (await ContentStore.open(root)).ingest(blob, async (writer) => {
    await writer.write(data.subarray(0, 1_500_000));
    throw cut;
  });
  await assert.rejects(first, cut);
  const store = await ContentStore.open(root);
  await store.ingest(blob, async (writer) => {
    assert.equal(writer.offset, 1_500_000);
    assert.equal(writer.resumed, true);
    await writer.write(data.subarray(writer.offset));
  });
  assert.deepEqual(await store.readSmall(blob.digest, data.length), data);
  assert.deepEqual(await readdir(join(root, 'content/ingest')), []);
});

test('wrong, short and long content is refused and leaves no file', async (t) => {
  const root = await scratch(t);
  const store = await ContentStore.open(root);
  const wrong = { ...blob, digest: `sha256:${'0'.repeat(64)}` };
  await assert.rejects(
    store.ingest(wrong, (writer) => writer.write(data)),
    /the content has the digest/,
  );
  await assert.rejects(
    store.ingest(blob, (writer) => writer.write(data.subarray(1))),
    /instead of the 3000000/,
  );
  await assert.rejects(
    store.ingest({ ...blob, size: 10 }, (writer) => writer.write(data)),
    /more than the 10 bytes/,
  );
  assert.deepEqual(await readdir(join(root, 'content/ingest')), []);
  assert.deepEqual(await store.list(), []);
});

test('content with an unknown digest is stored under its sha256', async (t) => {
  const root = await scratch(t);
  const store = await ContentStore.open(root);
  const digests: string[] = [];
  const onDigest = (digest: string) => digests.push(digest);
  assert.deepEqual(await store.ingestUnnamed((writer) => writer.write(data), onDigest), blob);
  const cut = store.ingestUnnamed(() => Promise.reject(new Error('cut')), onDigest);
  await assert.rejects(cut, /cut/);
  assert.deepEqual(digests, [blob.digest]);
  assert.deepEqual(await readdir(join(root, 'content/ingest')), []);
});

test('concurrent ingests of a blob share it', async (t) => {
  const store = await ContentStore.open(await scratch(t));
  let fills = 0;
  const ingest = () =>
    store.ingest(blob, async (writer) => {
      fills++;
      await writer.write(data);
    });
  await Promise.all([ingest(), ingest(), ingest()]);
  assert.equal(fills, 1);
});

test('small reads are bounded and verified', async (t) => {
  const store = await ContentStore.open(await scratch(t));
  await store.ingest(blob, (writer) => writer.write(data));
  await assert.rejects(store.readSmall(blob.digest, 100), /more than 100/);
  await assert.rejects(store.readSmall(`sha256:${'1'.repeat(64)}`, 100), /not in the content store/);
  await writeFile(store.path(blob.digest), 'rotten');
  await assert.rejects(store.readSmall(blob.digest, 100), /the file's digest is/);
});

test('a blob still in use is not deleted', async (t) => {
  const store = await ContentStore.open(await scratch(t));
  await store.ingest(blob, (writer) => writer.write(data));
  assert.equal(await store.deleteIf(blob.digest, () => false), false);
  assert.ok(await store.has(blob));
  assert.equal(await store.deleteIf(blob.digest, () => true), true);
  assert.deepEqual(await store.list(), []);
});

test('opening removes old and unknown partial files, but not recent ones', async (t) => {
  const root = await scratch(t);
  const ingest = join(root, 'content/ingest');
  await mkdir(ingest, { recursive: true });
  const [fresh, old] = [`sha256-${'a'.repeat(64)}`, `sha256-${'b'.repeat(64)}`];
  for (const name of [fresh, old, 'unnamed-1', 'unknown']) await writeFile(join(ingest, name), 'x');
  await utimes(join(ingest, old), 1, 1);
  await ContentStore.open(root);
  assert.deepEqual(await readdir(ingest), [fresh]);
});
