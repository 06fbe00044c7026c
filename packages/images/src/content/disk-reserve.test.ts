import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesForImages, filesForImages } from './disk-reserve.ts';

const gib = 2 ** 30;

test('5 % of a disk is reserved, up to 2 GiB', () => {
  const available = (diskGib: number, freeGib: number) =>
    bytesForImages({ blocks: (diskGib * gib) / 4096, bavail: (freeGib * gib) / 4096, bsize: 4096 }) / gib;
  assert.equal(available(20, 5), 4);
  assert.equal(available(20, 0.5), -0.5);
  assert.equal(available(1000, 5), 3);
});

test('5 % of the inodes are reserved if the file system has a fixed number', () => {
  assert.equal(filesForImages({ files: 1000, ffree: 100 }), 50);
  assert.equal(filesForImages({ files: 0, ffree: 0 }), Number.POSITIVE_INFINITY);
});
