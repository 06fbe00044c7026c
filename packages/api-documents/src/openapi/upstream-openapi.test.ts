/**
 * Compares OpenAPI v3 documents with upstream's, ignoring descriptions. Runs only if PODWRIGHT_KUBERNETES_DATA names a directory that
 * contains `openapi/*.json`, copied from Kubernetes' `api/openapi-spec/v3`.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isRecord } from '@podwright/base';
import { Schema } from '@podwright/kube-schema';
import { documentV3 } from './document-v3.ts';

const directory = join(process.env.PODWRIGHT_KUBERNETES_DATA ?? '', 'openapi');

/**
 * Parts of upstream's documents about features that this server does not have: CBOR, the deprecated `watch` paths, two parameters, and two
 * definitions.
 */
const ABSENT_KEYS = /^application\/(?:.*cbor.*)$|\/watch\//;
const ABSENT_PARAMETERS = ['shardSelector', 'ignoreStoreReadErrorWithClusterBreakingPotential'];
const ABSENT_DEFINITIONS = ['meta.v1.WatchEvent', 'runtime.RawExtension'].map((name) =>
  name.startsWith('meta') ? `io.k8s.apimachinery.pkg.apis.${name}` : `io.k8s.apimachinery.pkg.${name}`,
);

/**
 * Normalizes a document for comparison: drops descriptions and `uniqueItems`, sorts lists that are sets, and unwraps references from
 * `allOf`.
 */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return listOf(value);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value)
    .filter(
      ([key, one]) =>
        key !== 'uniqueItems' && !ABSENT_KEYS.test(key) && !(key === 'description' && typeof one === 'string'),
    )
    .map(([key, one]) => [key, comparable(one)] as const);
  const found: Record<string, unknown> = Object.fromEntries(entries);
  const { allOf } = found;
  return Array.isArray(allOf) && allOf.length === 1 && entries.length === 1 ? allOf[0] : found;
}

function listOf(values: readonly unknown[]): unknown[] {
  const kept = values.filter((one) => !(isRecord(one) && ABSENT_PARAMETERS.includes(String(one.name))));
  return kept.map(comparable).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

const keyOf = (value: unknown) => (isRecord(value) ? `${value.in} ${value.name}` : String(value));

if (process.env.PODWRIGHT_KUBERNETES_DATA !== undefined && existsSync(directory)) {
  const schema = await Schema.load();
  const groupVersions = Map.groupBy(schema.resources, ({ group, version }) =>
    group === '' ? `api__${version}` : `apis__${group}__${version}`,
  );
  for (const [name, resources] of groupVersions)
    test(`the document of ${name} is that of Kubernetes`, () => {
      const expected = JSON.parse(readFileSync(join(directory, `${name}_openapi.json`), 'utf8'));
      const found = documentV3(schema, resources, { version: 'unversioned', describe: () => undefined });
      const { schemas } = expected.components;
      for (const absent of ABSENT_DEFINITIONS)
        if (found.components !== undefined && !JSON.stringify(found).includes(absent)) delete schemas[absent];
      const statuses = expected.paths['/api/v1/componentstatuses']?.get.responses[200].content;
      for (const mediaType of Object.keys(statuses ?? {})) if (mediaType.includes('stream')) delete statuses[mediaType];
      assert.deepEqual(comparable(JSON.parse(JSON.stringify(found))), comparable(expected));
    });
}
