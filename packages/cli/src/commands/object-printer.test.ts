import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '../client/object-client.ts';
import { headerOf } from './object-printer.ts';
import { PS_COLUMNS } from './object-tables.ts';

const podIn = (namespace: string) => ({ kind: 'Pod', metadata: { name: 'web', namespace } }) as ApiObject;

test('for pods in several namespaces, a narrow terminal drops the namespace column only after most others', () => {
  const importance = (...namespaces: string[]) =>
    headerOf(PS_COLUMNS, new Set(namespaces.map((one) => podIn(one).metadata.namespace ?? ''))).find(
      ({ title }) => title === 'NAMESPACE',
    )?.importance;
  assert.equal(importance('default'), undefined);
  assert.equal(importance('default', 'other'), 9.5);
});
