/**
 * Compares the codecs with Kubernetes' own encoding of one object of each kind with every field set (k8s.io/api, testdata). Runs only if
 * PODWRIGHT_KUBERNETES_DATA names a directory with `objects/GROUP.VERSION.KIND.{json,pb}`.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { decodeJson } from './decoding/decode-json.ts';
import type { JsonObject } from './json.ts';
import { decodeObject, encodeObject } from './protobuf/object-codec.ts';
import { Schema } from './schema/schema.ts';

const directory = process.env.PODWRIGHT_KUBERNETES_DATA;
const schema = await Schema.load();

const paths = (directory === undefined ? [] : globSync(join(directory, 'objects/*.json')).sort()).map((path) =>
  path.replace(/\.json$/, ''),
);
const read = (path: string) => ({
  json: JSON.parse(readFileSync(`${path}.json`, 'utf8')) as JsonObject,
  bytes: readFileSync(`${path}.pb`),
});

/** A WatchEvent is not encoded like other objects, because it does not name its kind. */
const isEvent = (path: string) => basename(path) === 'core.v1.WatchEvent';

for (const path of paths.filter((one) => !isEvent(one)))
  test(`${basename(path)} is encoded as by Kubernetes`, () => {
    const { json, bytes } = read(path);
    assert.deepEqual(decodeObject(schema, bytes), json);
    assert.equal(Buffer.from(encodeObject(schema, json)).toString('hex'), bytes.toString('hex'));
    const type = schema.kindOf(json as { apiVersion: string; kind: string })!;
    assert.deepEqual(decodeJson(json, { schema, type }), { object: json, problems: [] });
  });

for (const path of paths.filter(isEvent))
  test('a watch event is decoded like in Kubernetes', () => {
    const { json, bytes } = read(path);
    const fallback = { apiVersion: 'v1', kind: 'WatchEvent' };
    assert.deepEqual(decodeObject(schema, bytes, { fallback }), json);
  });
