/**
 * Compares the codec with Kubernetes' own encoding of one object of each kind with every field set (k8s.io/api, testdata). Runs if
 * PODWRIGHT_KUBERNETES_DATA names a directory with `objects/GROUP.VERSION.KIND.{json,pb}`.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../json.ts';
import { Schema } from '../schema/schema.ts';
import { decodeObject, encodeObject } from './object-codec.ts';

const directory = process.env.PODWRIGHT_KUBERNETES_DATA;
const schema = await Schema.load();

/** Watch events are no objects: their JSON has no kind. */
const names = (directory === undefined ? [] : globSync(join(directory, 'objects/*.json')).sort())
  .map((path) => path.replace(/\.json$/, ''))
  .filter((path) => basename(path) !== 'core.v1.WatchEvent');

for (const path of names)
  test(`${basename(path)} is encoded as by Kubernetes`, () => {
    const json = JSON.parse(readFileSync(`${path}.json`, 'utf8')) as JsonObject;
    const bytes = readFileSync(`${path}.pb`);
    assert.deepEqual(decodeObject(schema, bytes), json);
    const encoded = encodeObject(schema, json);
    assert.deepEqual(decodeObject(schema, encoded), json);
    assert.equal(Buffer.from(encoded).toString('hex'), bytes.toString('hex'));
  });
