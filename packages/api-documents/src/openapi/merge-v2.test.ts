import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentBelow, mergedV2 } from './merge-v2.ts';

const at = (name: string) => ({ $ref: `#/definitions/${name}` });
const own = () => ({
  swagger: '2.0',
  paths: { '/api/v1/': { get: at('List') } },
  definitions: { List: { type: 'object' }, Meta: { description: 'own' } },
});

test('a filtered document has the paths under a prefix and the definitions they use', () => {
  const document = {
    paths: { '/apis/a.example/v1/': { get: at('A') }, '/apis/a.example/v10/': {}, '/version/': { get: at('Info') } },
    definitions: { A: { items: at('B') }, B: { properties: { a: at('A'), missing: at('C') } }, Info: {} },
  };
  assert.deepEqual(documentBelow(document, '/apis/a.example/v1/'), {
    paths: { '/apis/a.example/v1/': { get: at('A') } },
    definitions: { A: { items: at('B') }, B: { properties: { a: at('A'), missing: at('C') } } },
  });
  assert.deepEqual(documentBelow({ paths: 1, definitions: [] } as never, '/'), { paths: {}, definitions: {} });
});

test('a document that is nested too deeply is refused', () => {
  let deep: object = {};
  for (let depth = 0; depth < 1000; depth++) deep = { deep };
  assert.throws(() => documentBelow({ paths: { '/a': deep } } as never, '/'), /nested too deeply/);
});

test('conflicting definitions of the same name are renamed', () => {
  const other = {
    paths: { '/api/v1/': { get: at('Meta') }, '/apis/a.example/v1/': { get: at('Meta'), put: at('List') } },
    definitions: { Meta: { description: 'other', items: at('Meta') }, List: { type: 'object' } },
  };
  const { paths, definitions, swagger } = mergedV2(own(), [other]);
  assert.equal(swagger, '2.0');
  assert.deepEqual(paths, {
    '/api/v1/': { get: at('List') },
    '/apis/a.example/v1/': { get: at('Meta_v2'), put: at('List') },
  });
  assert.deepEqual(definitions, {
    List: { type: 'object' },
    Meta: { description: 'own' },
    Meta_v2: { description: 'other', items: at('Meta_v2') },
  });
});

test('a document merged with no others is unchanged', () => {
  const document = own();
  assert.equal(mergedV2(document, []), document);
});
