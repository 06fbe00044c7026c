import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isIdOf, namesOf, podsUsing } from './image-names.ts';

const id = `sha256:${'0123456789abcdef'.repeat(4)}`;
const image = { id, repoTags: [], repoDigests: [] };

test('an image is named by its tags, or else by a short digest or ID', () => {
  assert.deepEqual(namesOf({ ...image, repoTags: ['a:1', 'b:1'], repoDigests: [`a@${id}`] }), ['a:1', 'b:1']);
  assert.deepEqual(namesOf({ ...image, repoDigests: [`r.test/a@${id}`] }), ['r.test/a@sha256:0123456789abc']);
  assert.deepEqual(namesOf(image), ['0123456789abc']);
});

test('IDs are distinguished from names', () => {
  for (const reference of [id, id.slice(7), '01234567']) assert.ok(isIdOf(image, reference), reference);
  for (const reference of ['0123456', 'a:1', '01234568']) assert.ok(!isIdOf(image, reference), reference);
  assert.ok(!isIdOf({ ...image, repoTags: ['docker.io/library/01234567:latest'] }, '01234567'));
});

test('each pod using an image is listed once', () => {
  const labels = (name: string) => ({ 'io.kubernetes.pod.namespace': 'default', 'io.kubernetes.pod.name': name });
  const containers = [
    { imageId: id, labels: labels('web') },
    { imageId: id, labels: labels('web') },
    { imageId: 'sha256:other', labels: labels('db') },
  ];
  assert.deepEqual(podsUsing(id, containers), ['default/web']);
});
