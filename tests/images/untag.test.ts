/** Names of loaded images, and removal by name. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { EXAMPLE_IMAGE_NAME, writeExampleArchive } from '../../scripts/example-image.ts';
import { openImageRoom, scratch } from './image-room.ts';

const { signal } = new AbortController();

test('untag removes one name of an image, and with its last tag the image', async (t) => {
  const directory = await scratch(t);
  const room = await openImageRoom(join(directory, 'room'));
  t.after(() => room[Symbol.asyncDispose]());
  const { images } = room;
  const path = join(directory, 'image.tar');
  const { id, manifestDigest } = await writeExampleArchive(path);
  const load = async (name?: string) => (await images.load(path, { signal, name })).map(({ names }) => names);

  assert.deepEqual(await load(), [[EXAMPLE_IMAGE_NAME]]);
  // `load` returns only the name that it has added, although the image has others
  assert.deepEqual(await load('quay.io/room/app:1'), [['quay.io/room/app:1']]);
  await load('quay.io/room/app:2');
  assert.equal(images.find(id)?.repoTags.length, 3);

  assert.equal(await images.untag('quay.io/room/app:1'), false);
  assert.deepEqual(images.find(id)?.repoTags.toSorted(), [EXAMPLE_IMAGE_NAME, 'quay.io/room/app:2']);
  assert.ok(images.find(`quay.io/room/app@${manifestDigest}`), 'the digest stays with another tag of its repository');
  assert.equal(await images.untag('quay.io/room/app:2'), false);
  assert.equal(images.find(`quay.io/room/app@${manifestDigest}`), undefined);
  await assert.rejects(images.untag('quay.io/room/app:2'), { code: 'not_found' });
  await assert.rejects(images.untag(id), { code: 'not_found' });
  assert.equal(await images.untag(EXAMPLE_IMAGE_NAME), true);
  assert.deepEqual(images.list(), []);
});
