import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findImage, namesToRemove } from './image-lookup.ts';

const hex = (start: string): string => start.padEnd(64, '0');
const images = [
  {
    id: `sha256:${hex('abcdef0123')}`,
    repoTags: ['docker.io/library/busybox:1', 'docker.io/library/abcdef01:latest'],
    repoDigests: [`docker.io/library/busybox@sha256:${hex('1')}`],
    manifestDigest: `sha256:${hex('2')}`,
  },
  {
    id: `sha256:${hex('abcdef0199')}`,
    repoTags: ['quay.io/a/b:1'],
    repoDigests: [],
    manifestDigest: `sha256:${hex('3')}`,
  },
];

function check(text: string, expected: number | undefined): void {
  const found = findImage(images, text);
  assert.equal(found === undefined ? undefined : images.indexOf(found), expected, text);
}

test('an image is found by ID, name, digest or ID prefix', () => {
  for (const [index, { id }] of images.entries()) {
    check(id, index);
    check(id.slice(7), index);
    check(id.slice(0, 17), index);
    check(id.slice(7, 17), index);
  }
  check('busybox:1', 0);
  check('docker.io/busybox:1', 0);
  check(`busybox@sha256:${hex('1')}`, 0);
  check(`busybox:whatever@sha256:${hex('1')}`, 0);
  check(`sha256:${hex('1')}`, 0);
  check(`sha256:${hex('3')}`, 1);
  check('quay.io/a/b:1', 1);
});

test('text that matches no image is not found', () => {
  for (const text of ['', 'busybox', 'Busybox:1', `busybox@sha256:${hex('2')}`, hex('f'), 'abcdef', 'ffffffff']) {
    check(text, undefined);
  }
});

test('a name takes precedence over a prefix, and an ambiguous prefix is refused', () => {
  check('abcdef01', 0);
  assert.throws(() => findImage(images, 'sha256:abcdef01'), /2 image ids have this prefix/);
});

test('the digests of a repository are removed with its last tag, and otherwise one at a time', () => {
  const names = (repoTags: string[], repoDigests: string[]) => ({ id: '', manifestDigest: '', repoTags, repoDigests });
  const digests = ['a/b@sha256:1', 'a/b@sha256:2', 'c@sha256:1'];
  const check = (tags: string[], name: string, expected: string[]) =>
    assert.deepEqual(namesToRemove(names(tags, digests), name), expected, name);
  check(['a/b:1'], 'a/b:1', ['a/b:1', 'a/b@sha256:1', 'a/b@sha256:2']);
  check(['a/b:1', 'a/b:2'], 'a/b:1', ['a/b:1']);
  check(['a/b:1'], 'a/b@sha256:1', ['a/b@sha256:1']);
  check([], 'a/b@sha256:1', ['a/b@sha256:1']);
});
