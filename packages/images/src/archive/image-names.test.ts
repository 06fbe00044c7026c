import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Descriptor } from '../spec/manifest.ts';
import { chooseNames, groupByName } from './image-names.ts';

const refName = 'org.opencontainers.image.ref.name';
const fullName = 'io.containerd.image.name';

function entry(annotations: Record<string, string> | undefined): Descriptor {
  return { mediaType: '', digest: `sha256:${'0'.repeat(64)}`, size: 1, annotations, platform: undefined };
}

function check(
  annotations: (Record<string, string> | undefined)[],
  given: string | undefined,
  expected: unknown[],
): void {
  assert.deepEqual(chooseNames(groupByName(annotations.map(entry)), given), expected);
}

test('names come from the annotations, and the full name takes precedence', () => {
  check([{ [fullName]: 'quay.io/a/b:1', [refName]: '1' }], undefined, ['quay.io/a/b:1']);
  check([{ [refName]: 'busybox:1' }], undefined, ['docker.io/library/busybox:1']);
  check([{ [refName]: 'latest' }], undefined, [undefined]);
  check([undefined], undefined, [undefined]);
});

test('a given name applies to the only image, or is the repository for the tags in the file', () => {
  check([{ [refName]: 'v1' }], 'quay.io/a/b', ['quay.io/a/b:v1']);
  check([{ [refName]: 'v1' }], 'localhost:5000/b', ['localhost:5000/b:v1']);
  check([{ [refName]: 'v1' }], 'quay.io/a/b:v2', ['quay.io/a/b:v2']);
  check([{ [fullName]: 'x/y:v3' }], 'quay.io/a/b', ['quay.io/a/b:v3']);
  check([undefined], 'busybox', ['docker.io/library/busybox:latest']);
  check([{ [refName]: 'v1' }, { [refName]: 'v2' }], 'a/b', ['docker.io/a/b:v1', 'docker.io/a/b:v2']);
});

test('entries with the same name are platforms of a single image', () => {
  const groups = groupByName([entry({ [refName]: '1' }), entry({ [refName]: '1' }), entry(undefined)]);
  assert.deepEqual(
    groups.map(({ candidates }) => candidates.length),
    [2, 1],
  );
});

test('a given name that does not match all images is rejected', () => {
  const two = groupByName([entry({ [refName]: 'v1' }), entry({ [refName]: 'v2' })]);
  assert.throws(() => chooseNames(two, 'a/b:1'), /the file has 2 images/);
  assert.throws(() => chooseNames(groupByName([entry({ [refName]: 'v1' }), entry(undefined)]), 'a/b'), /2 images/);
  assert.throws(() => chooseNames(two, 'A/B/c'), /lower case/);
});
