/** Layers that are unpacked while their blobs are still being downloaded. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { after, afterEach, beforeEach, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { waitFor } from '@podwright/base';
import { ArrivingBlob } from '../../packages/images/src/content/arriving-blob.ts';
import { tarArchive } from '../../packages/images/src/unpack/tar-writer.fixture.ts';
import { LayerUnpacker } from '../../packages/images/src/unpack/unpack-layer.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { rejects } from '../images/rejects.ts';
import { file, gzipLayer, text, unpackEntries } from './layer.fixture.ts';
import { Scratch } from './scratch.ts';

const unpacker = new LayerUnpacker({ system: loadSystem() });
after(() => unpacker[Symbol.asyncDispose]());

let scratch: Scratch;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => scratch[Symbol.dispose]());

const soon = () => AbortSignal.timeout(30_000);
const noise = randomBytes(1_500_000).toString('hex');
const archive = tarArchive([file('first', 'one'), file('big', noise), file('last', 'two')]);

/** Starts unpacking a blob before any of it has arrived; `send` delivers the blob's bytes up to an offset. */
function begin(name: string, blob: Buffer) {
  const path = scratch.at(`${name}.partial`);
  writeFileSync(path, '');
  const arriving = new ArrivingBlob(path, blob.length);
  const directory = scratch.directory(name);
  let sent = 0;
  const send = (until: number) => {
    appendFileSync(path, blob.subarray(sent, until));
    sent = until;
    arriving.grow(until);
  };
  const unpacked = unpacker.unpackLayer({
    blobPath: path,
    arriving,
    mediaType: gzipLayer,
    directory,
    overlayWhiteouts: true,
    signal: AbortSignal.any([soon(), arriving.failed]),
  });
  unpacked.catch(() => undefined); // the test awaits it later
  return { arriving, directory, send, unpacked };
}

const appears = (path: string) => waitFor(() => existsSync(path) || undefined, { intervalMs: 5, signal: soon() });

for (const [name, blob] of Object.entries({
  none: archive,
  gzip: gzipSync(archive),
  zstd: zstdCompressSync(archive),
})) {
  test(`${name}: arrived bytes are unpacked before the rest arrives, however the stream is split`, async () => {
    const { directory, send, unpacked } = begin(name, blob);
    for (const until of [0, 1, 5, 6, 7, 600, Math.floor(blob.length / 2)]) send(until);
    await appears(`${directory}/first`);
    assert.ok(!existsSync(`${directory}/last`));
    send(blob.length);
    const complete = await unpackEntries(unpacker, scratch, blob, { name: `${name}-complete` });
    assert.deepEqual(await unpacked, complete);
    assert.equal(text(`${directory}/last`), 'two');
    assert.equal(text(`${directory}/big`), noise);
  });
}

test('after a blob that ends early or is rejected, the worker can unpack the next one', async () => {
  const blob = gzipSync(archive);
  const cut = begin('cut', blob.subarray(0, blob.length - 20));
  cut.send(blob.length - 20);
  await rejects(cut.unpacked, 'data_loss', /damaged or truncated/);
  const refused = begin('refused', gzipSync(tarArchive([file('../../x', 'y'), file('a', noise)])));
  refused.send(1_000_000); // the rest never arrives
  await rejects(refused.unpacked, 'invalid_argument', /x/);
  refused.send(1_000_001);
  assert.equal((await unpackEntries(unpacker, scratch, [file('a', 'b')])).entries, 1);
});

test('a failed transfer ends the unpacking, and nothing more is written', async () => {
  const blob = gzipSync(archive);
  const { arriving, directory, send, unpacked } = begin('failed', blob);
  send(Math.floor(blob.length / 2));
  await appears(`${directory}/big`);
  arriving.fail();
  await rejects(unpacked, 'aborted', /ended before it was complete/);
  const { size } = statSync(`${directory}/big`);
  send(blob.length);
  assert.equal((await unpackEntries(unpacker, scratch, blob)).entries, 3);
  assert.equal(statSync(`${directory}/big`).size, size);
});

test('slowly arriving blobs occupy only one worker and do not block other layers', async () => {
  const blob = gzipSync(archive);
  const slow = ['a', 'b', 'c'].map((name) => begin(name, blob));
  for (const { send } of slow) send(Math.floor(blob.length / 2));
  await appears(`${slow[0]!.directory}/first`);
  assert.equal((await unpackEntries(unpacker, scratch, [file('x', 'y')])).entries, 1);
  const last = slow.at(-1)!;
  last.send(blob.length);
  assert.equal((await last.unpacked).entries, 3);
  for (const { arriving } of slow) arriving.fail();
  await Promise.allSettled(slow.map(({ unpacked }) => unpacked));
  assert.ok(!existsSync(`${slow[1]!.directory}/first`));
});
