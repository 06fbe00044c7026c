/**
 * Compares discovery documents with upstream's. Runs only if PODWRIGHT_KUBERNETES_DATA names a directory that contains `discovery/*.json`,
 * copied from Kubernetes' `api/discovery`.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Schema } from '@podwright/kube-schema';
import { pathRequest } from '../path-request.fixture.ts';
import { Discovery } from './discovery.ts';

const directory = join(process.env.PODWRIGHT_KUBERNETES_DATA ?? '', 'discovery');

if (process.env.PODWRIGHT_KUBERNETES_DATA !== undefined && existsSync(directory))
  test('documents match those of Kubernetes', async () => {
    const schema = await Schema.load();
    const { resources } = schema;
    const discovery = new Discovery({ schema, resources, serverAddress: '10.10.10.10:8050' });
    const files = readdirSync(directory).filter((file) => /^(?:api.*|aggregated_v2)\.json$/.test(file));
    assert.ok(files.length > 50);
    for (const file of files) {
      const isAggregated = file === 'aggregated_v2.json';
      const path = isAggregated ? '/apis' : `/${file.replace('.json', '').replaceAll('__', '/')}`;
      const accept = isAggregated ? 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' : '';
      const response = await discovery.respond(pathRequest(path, { accept }));
      const expected = JSON.parse(readFileSync(join(directory, file), 'utf8'));
      assert.deepEqual(JSON.parse(String(response!.body)), expected, file);
    }
  });
