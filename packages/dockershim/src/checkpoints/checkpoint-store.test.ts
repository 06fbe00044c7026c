import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Logger, silentLogger } from '@podwright/base';
import { MAX_CHECKPOINT_BYTES } from '../limits.ts';
import { decodeCheckpoint, encodeCheckpoint, type SandboxCheckpoint } from './checkpoint.ts';
import { CheckpointStore } from './checkpoint-store.ts';

const ID = 'a'.repeat(64);
const checkpoint: SandboxCheckpoint = {
  ...{ name: 'web', namespace: 'shop', uid: 'u-1', attempt: 2, createdAtMs: 5, hostNetwork: false, network: 'cni' },
  portMappings: [{ protocol: 'TCP', containerPort: 80, hostPort: 8080, hostIp: '' }],
  dns: { servers: ['10.0.0.10'], searches: ['svc.local'], options: ['ndots:5'] },
};

function place(t: { after(work: () => void): void }) {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-checkpoints-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const warned: object[] = [];
  const logger: Logger = { ...silentLogger, warn: (fields) => void warned.push(fields) };
  return { directory, warned, store: new CheckpointStore(directory, logger) };
}

test('a checkpoint round-trips, even in another process', async (t) => {
  const { directory, store } = place(t);
  await store.write(ID, checkpoint);
  assert.deepEqual(await new CheckpointStore(directory, silentLogger).read(ID), checkpoint);
  assert.deepEqual(await store.ids(), [ID]);
  await store.remove(ID);
  await store.remove(ID);
  assert.equal(await store.read(ID), undefined);
  assert.deepEqual(readdirSync(directory), []);
});

test('a sandbox’s files are removed with its checkpoint, and listed if they have none', async (t) => {
  const { directory, store } = place(t);
  mkdirSync(store.filesOf(ID));
  assert.deepEqual(await store.ids(), [ID]);
  await store.write(ID, checkpoint);
  assert.deepEqual(await store.ids(), [ID]);
  await store.remove(ID);
  assert.deepEqual(readdirSync(directory), []);
});

test('a corrupt checkpoint is logged with its path and removed', async (t) => {
  const { directory, warned, store } = place(t);
  const good = encodeCheckpoint(checkpoint);
  const signed = (data: object) => encodeCheckpoint(data as SandboxCheckpoint);
  const bad: [string, RegExp][] = [
    ['', /not a checkpoint/],
    [good.slice(0, -3), /not a checkpoint/],
    ['[]', /not a checkpoint/],
    ['null', /not a checkpoint/],
    [good.replace('"version":1', '"version":2'), /not a checkpoint/],
    [good.replace('8080', '9090'), /checksum/],
    [good.replace('"web"', '"wet"'), /checksum/],
    [signed({ ...checkpoint, portMappings: 'all' }), /data\.portMappings/],
    [signed({ ...checkpoint, attempt: -1 }), /data\.attempt/],
    [signed({ __proto__: null, name: 'x' }), /data\./],
    ['['.repeat(100_000), /not a checkpoint/],
    ['x'.repeat(MAX_CHECKPOINT_BYTES + 1), /at most/],
  ];
  for (const [text, reason] of bad) {
    writeFileSync(join(directory, `${ID}.json`), text);
    assert.equal(await store.read(ID), undefined);
    const { path, error } = warned.pop() as { path: string; error: string };
    assert.equal(path, join(directory, `${ID}.json`));
    assert.match(error, reason);
    assert.deepEqual(readdirSync(directory), []);
  }
  assert.throws(() => decodeCheckpoint('{}'), { code: 'data_loss' });
});

test('only complete IDs become path segments', async (t) => {
  const { directory, store } = place(t);
  mkdirSync(join(directory, 'x'));
  writeFileSync(join(directory, 'x', 'y.json'), '');
  for (const id of ['x/y', '../x', '', 'a'.repeat(63), `${'a'.repeat(64)}/`]) {
    assert.equal(await store.read(id), undefined);
    await store.remove(id);
    await assert.rejects(store.write(id, checkpoint), { code: 'invalid_argument' });
  }
  assert.deepEqual(readdirSync(join(directory, 'x')), ['y.json']);
});

test('foreign files are kept, and files of interrupted writes are cleaned up', async (t) => {
  const { directory, store } = place(t);
  await store.write(ID, checkpoint);
  for (const name of ['README', `${ID}.json.0a1b.tmp`, `${ID}.json~`]) writeFileSync(join(directory, name), '');
  assert.deepEqual(await store.ids(), [ID]);
  await store.sweep();
  assert.deepEqual(readdirSync(directory).sort(), ['README', `${ID}.json`, `${ID}.json~`].sort());
});

test('a symlink to anything but a regular file is a corrupt checkpoint', async (t) => {
  const { directory, store } = place(t);
  symlinkSync('/dev/zero', join(directory, `${ID}.json`));
  assert.equal(await store.read(ID), undefined);
  assert.deepEqual(readdirSync(directory), []);
});
