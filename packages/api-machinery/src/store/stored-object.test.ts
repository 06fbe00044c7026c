import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '@podwright/kube-kinds';
import { itemParts, StoredObject } from './stored-object.ts';

/** An object with non-ASCII strings, and with strings that look like the start of the metadata in its encoded form. */
const ODD: ApiObject = {
  kind: 'Po"d","metadata":{"resourceVersion":"1',
  apiVersion: 'v1',
  metadata: { name: 'ä€😀', annotations: { '"metadata":{"resourceVersion":"': '"metadata":{"resourceVersion":"7"' } },
  spec: { template: { metadata: { resourceVersion: '5' } } },
};

const versioned = (object: ApiObject, revision: number) => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(revision) },
});

test('the revision is only in the metadata, even after a change', () => {
  const stored = StoredObject.encode('a/b', 9, ODD);
  assert.deepEqual(JSON.parse(stored.bytes.toString()), versioned(ODD, 9));
  const later = stored.withRevision(1234);
  assert.deepEqual([later.key, later.revision], ['a/b', 1234]);
  assert.deepEqual(later.decode(), versioned(ODD, 1234));
  assert.deepEqual(stored.decode(), versioned(ODD, 9));
});

test('an object loaded as bytes is decoded from them, once while it is in use', () => {
  const { bytes } = StoredObject.encode('a/b', 9, ODD);
  const read = new StoredObject('a/b', 9, bytes);
  const object = read.decode();
  assert.deepEqual(object, versioned(ODD, 9));
  assert.equal(read.decode(), object);
});

test('items of lists have neither kind nor apiVersion', () => {
  const plain: ApiObject = { metadata: { name: 'plain' }, data: { text: 'x' } };
  const objects = [ODD, plain].map((object, index) => StoredObject.encode('a/b', index + 1, object));
  const { kind: _, apiVersion: __, ...item } = versioned(ODD, 1);
  assert.deepEqual(JSON.parse(`[${Buffer.concat(itemParts(objects))}]`), [item, versioned(plain, 2)]);
  assert.deepEqual(itemParts([]), []);
});
