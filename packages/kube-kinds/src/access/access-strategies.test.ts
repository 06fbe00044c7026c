import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callAll, completeObjects, decodedOrNot, kindsOf } from '../all-objects.fixture.ts';
import { ACCESS_STRATEGIES } from './access-strategies.ts';

const { 'serviceaccounts/token': _, ...STORED } = ACCESS_STRATEGIES;

for (const { key, apiVersion, kind } of kindsOf(STORED))
  test(`the rules of ${key} neither throw on any object nor modify it`, () => {
    const strategy = STORED[key]!;
    const check = (fields: object) => {
      const object = decodedOrNot({ apiVersion, kind, ...fields });
      if (object !== undefined) callAll(strategy, object);
      return object;
    };
    assert.ok(check({}));
    for (const spec of [{}, null, [], 'x', 0]) for (const status of [{}, null, 'x']) check({ spec, status });
    check({ metadata: { name: '__proto__', annotations: { __proto__: 'x', constructor: 'y' } } });
    for (const object of completeObjects(apiVersion, kind)) assert.ok(check(object));
  });
