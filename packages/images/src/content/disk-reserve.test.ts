import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesForImages, filesForImages } from './disk-reserve.ts';

const gib = 2 ** 30;

test('a twentieth of a disk is left free, but not more than 2 GiB', () => {
  const left = (diskGib: number, freeGib: number) =>
    bytesForImages({ blocks: (diskGib * gib) / 4096, bavail: (freeGib * gib) / 4096, bsize: 4096 }) / gib;
  assert.equal(left(20, 5), 4);
  assert.equal(left(20, 0.5), -0.5);
  assert.equal(left(1000, 5), 3);
});

test('a twentieth of the files is left free where they are bounded', () => {
  assert.equal(filesForImages({ files: 1000, ffree: 100 }), 50);
  assert.equal(filesForImages({ files: 0, ffree: 0 }), Number.POSITIVE_INFINITY);
});
