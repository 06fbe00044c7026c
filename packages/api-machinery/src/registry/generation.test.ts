import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject, Strategy } from '@podwright/kube-kinds';
import { Schema } from '@podwright/kube-schema';
import { preparedForCreate, preparedForUpdate } from './object-rules.ts';
import { ServedKind } from './served-kind.ts';

const schema = await Schema.load();
const pods = schema.resource('', 'v1', 'pods')!;
const kindWith = (strategy: Strategy) =>
  new ServedKind(pods, { schema, strategies: { pods: { hasGeneration: true, ...strategy } } });
const pod = (metadata: ApiObject['metadata'], spec: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata,
  spec,
});
const context = { user: { username: 'u', groups: [] }, nowMs: 0 };

/**
 * Returns the generation of a new object and its generations after different updates: of its labels, of its spec, and through a
 * subresource.
 */
function generations(strategy: Strategy): (number | undefined)[] {
  const binding = { prepareForUpdate: (object: ApiObject) => object };
  const kind = kindWith({ ...strategy, subresources: { binding } });
  const old = preparedForCreate(kind, pod({ name: 'a' }), context);
  const after = (object: ApiObject, subresource = '') =>
    preparedForUpdate(kind, { object, old, subresource }).metadata.generation;
  const changed = pod({ name: 'a' }, { nodeName: 'n' });
  return [
    old.metadata.generation,
    after(pod({ name: 'a', labels: { a: 'b' } })),
    after(changed),
    after(changed, 'binding'),
  ];
}

test('the generation is incremented by changes to the spec, and to labels for kinds that require it', () => {
  assert.deepEqual(generations({}), [1, 1, 2, 1]);
  assert.deepEqual(generations({ countsLabels: true }), [1, 2, 2, 1]);
  assert.deepEqual(generations({ startsWithoutGeneration: true }), [undefined, undefined, 1, undefined]);
});
