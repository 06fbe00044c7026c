import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkValueCount } from './count-values.ts';
import { parseJsonBody } from './parsed-body.ts';

const message = 'Request entity too large: limit is 100000 values';

test('a body with too many values is refused, however they are nested', () => {
  const list = Array.from({ length: 60_000 }, () => 1);
  assert.doesNotThrow(() => checkValueCount({ a: list }));
  assert.throws(() => checkValueCount({ a: list, b: { c: list } }), { message });
  assert.throws(() => parseJsonBody(JSON.stringify(list.map(() => [1]))), { message });
  let deep: unknown = 1;
  for (let level = 0; level < 100_001; level++) deep = [deep];
  assert.throws(() => checkValueCount(deep), { message });
});
