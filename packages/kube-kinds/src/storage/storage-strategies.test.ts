import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callAll, completeObjects, decodedOrNot, kindsOf } from '../all-objects.fixture.ts';
import { STORAGE_STRATEGIES } from './storage-strategies.ts';

for (const { key, apiVersion, kind } of kindsOf(STORAGE_STRATEGIES))
  test(`the rules of ${key} neither throw on any object nor modify it`, () => {
    const strategy = STORAGE_STRATEGIES[key]!;
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
