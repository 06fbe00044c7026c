import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definedKinds } from './custom-kinds.ts';

type Version = { name: string; deprecated?: boolean; served?: boolean; deprecationWarning?: string };

/** Asserts the deprecation warnings of a definition's served versions. */
function check(versions: Version[], expected: (string | undefined)[]): void {
  const names = { plural: 'foos', singular: 'foo', kind: 'Foo', listKind: 'FooList' };
  const definition = {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: {} },
    spec: {
      ...{ group: 'example.com', scope: 'Namespaced', names },
      versions: versions.map((one, index) => ({ served: true, storage: index === 0, ...one })),
    },
    status: { acceptedNames: names },
  };
  const found = definedKinds(definition)!.versions.map(({ type }) => type.deprecationWarning);
  assert.deepEqual(found, expected);
}

describe('the warning of a deprecated version', () => {
  const deprecated = { name: 'v1beta1', deprecated: true };
  const text = 'example.com/v1beta1 Foo is deprecated';

  it('names the newest served version that is not deprecated', () => {
    check([deprecated, { name: 'v1' }, { name: 'v2' }], [`${text}; use example.com/v2 Foo`, undefined, undefined]);
    check([deprecated, { name: 'v1', served: false }], [text]);
    check([deprecated, { name: 'v1', deprecated: true }], [text, 'example.com/v1 Foo is deprecated']);
  });

  it('names no older version', () => check([deprecated, { name: 'v1alpha1' }], [text, undefined]));

  it('is that of the definition', () => {
    check([{ ...deprecated, deprecationWarning: 'use Bars' }, { name: 'v1' }], ['use Bars', undefined]);
  });
});
